// A manifest that has come whole, and whether it may be hosted.
#pragma once

#include <string>
#include <string_view>

#include "proto/base/ids.h"
#include "proto/base/result.h"

namespace firn::tracker {

struct WholeManifest {
  ContentId content;  // that it was put under
  std::string bytes;
  std::string prefix;  // of its sender (prefix_of)
};

// In full: the content id does not cover trackers and signature, and a peer that gets a manifest
// with a bad one from here would have to look for another, while its owner is told that it is
// hosted already. A private content's is sealed, and only its signature can be checked. Takes some
// 60 ms for each MiB. Any thread. Errors: kBadInput, kCorrupt.
Status check_manifest(std::string_view bytes, const ContentId& content);

}  // namespace firn::tracker
