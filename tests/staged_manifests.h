// What a driver does with manifests that neighbours send, for tests of the core without one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "client/core/base/actions.h"
#include "proto/content/manifest.h"

namespace firn::test {

class StagedManifests {
 public:
  // The whole file, if this part completes it.
  std::optional<std::string> keep(const core::KeepManifestPart& action) {
    const proto::ManifestPart& part = action.part;
    std::string& bytes = parts_[action.peer];
    FIRN_CHECK(part.data.empty() || part.offset == 0 || part.offset == bytes.size());
    if (part.offset == 0) bytes.clear();
    bytes += part.data;
    if (bytes.empty() || bytes.size() < part.total_bytes) return std::nullopt;
    return std::exchange(bytes, {});
  }

 private:
  std::map<core::PeerKey, std::string> parts_;
};

// What the core is given of a whole file: it has the content's id, or is its sender's fault.
inline Result<std::string> proven(const std::string& file_bytes, const ContentId& content) {
  const auto id = manifest_content_id(file_bytes);
  if (!id.ok()) return id.error();
  if (*id != content) return Error{ErrorCode::kCorrupt, "read the manifest", "another content's"};
  return file_bytes;
}

}  // namespace firn::test
