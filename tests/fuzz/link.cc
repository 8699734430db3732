// A link, address or path that is taken is written as one that means the same.
#include <filesystem>
#include <string>

#include "proto/base/plain_text.h"
#include "proto/content/link.h"
#include "proto/content/manifest.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::link {
FIRN_FUZZ_TARGET(link) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto link = parse_link(text); link.ok()) {
    const std::string written = to_text(*link);
    FIRN_CHECK(written.find_first_of(" \t\r\n?&#%[]'\"$`\\|;<>(){}*!~^,") == std::string::npos);
    const auto again = parse_link(written);
    FIRN_CHECK(again.ok() && again->content_id == link->content_id &&
               again->trackers == link->trackers && again->peers == link->peers &&
               again->publisher == link->publisher && again->secret == link->secret &&
               again->origins == link->origins);
  } else {
    FIRN_CHECK(is_plain_text(link.error().message()));
  }
  if (const auto address = parse_address(text); address.ok()) {
    const auto again = parse_address(to_text(*address));
    FIRN_CHECK(again.ok() && *again == *address);
  } else {
    FIRN_CHECK(is_plain_text(address.error().message()));
  }
  if (check_content_path(text).ok()) {
    const std::filesystem::path path(text);
    FIRN_CHECK(path.is_relative() && path == path.lexically_normal() && path.has_filename());
    FIRN_CHECK(*path.begin() != "..");
  }
  FIRN_CHECK(without_secrets(text).size() <= 4 * text.size());
  const std::string plain = to_plain_text(text, 100);
  FIRN_CHECK(plain.size() <= 100 && is_plain_text(plain));
  FIRN_CHECK(!is_plain_text(text) || text.starts_with(plain));
  return 0;
}

}  // namespace firn::fuzz::link
