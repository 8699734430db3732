#include "tracker/manifest_check.h"

#include "proto/content/manifest.h"
#include "proto/content/sealed_manifest.h"

namespace firn::tracker {

Status check_manifest(std::string_view bytes, const ContentId& content) {
  if (is_sealed_manifest(bytes)) return check_sealed_manifest(bytes, content);
  const auto read = parse_manifest(bytes, content);
  if (!read) return read.error();
  // The tracker's page shows the name that manifest_name() finds in the first bytes.
  const std::string name = manifest_name(bytes.substr(0, kNameWithin));
  if (!name.empty() && name != read->info.name)
    return Error{ErrorCode::kBadInput, "check the manifest", "its envelope has two info parts"};
  return Done{};
}

}  // namespace firn::tracker
