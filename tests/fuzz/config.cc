// A configuration that is taken has entries that a command line could hold, and one that is not is
// refused with a text for people.
#include <string>

#include "proto/base/plain_text.h"
#include "proto/program/config_file.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::config {
FIRN_FUZZ_TARGET(config) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto file = parse_config("config.toml", text);
  if (!file.ok()) {
    FIRN_CHECK(file.error().code == ErrorCode::kBadInput);
    FIRN_CHECK(is_plain_text(file.error().message()));
    return 0;
  }
  std::uint32_t line = 1;
  for (const ConfigEntry& entry : file->entries) {
    FIRN_CHECK(!entry.path.empty() && entry.line >= line);
    line = entry.line;
    using Kind = ConfigEntry::Kind;
    if (entry.kind == Kind::kValue || entry.kind == Kind::kSwitch)
      FIRN_CHECK(entry.values.size() == 1);
    if (entry.kind == Kind::kSwitch)
      FIRN_CHECK(entry.values.front() == "true" || entry.values.front() == "false");
  }
  return 0;
}

}  // namespace firn::fuzz::config
