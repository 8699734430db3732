#include "tracker/manifest_check.h"

#include "proto/content/manifest.h"
#include "proto/content/sealed_manifest.h"

namespace firn::tracker {

Status check_manifest(std::string_view bytes, const ContentId& content) {
  if (is_sealed_manifest(bytes)) return check_sealed_manifest(bytes, content);
  const auto read = parse_manifest(bytes, content);
  return read.ok() ? Status(Done{}) : Status(read.error());
}

}  // namespace firn::tracker
