// What a registry and Redis tell each other, by way of the link (link.h): changes of peers, and
// manifests. Times are this tracker's own; on the way they are ages (records.h).
#pragma once

#include <string>
#include <vector>

#include "proto/base/ids.h"
#include "tracker/registry.h"

namespace firn::tracker {

struct PeerChange {
  ContentId content;
  PackedPeer peer;    // of one that left: its id alone
  bool left = false;  // else it has announced itself
  Time at{};
  bool operator==(const PeerChange&) const = default;
};

struct SharedManifest {
  ContentId content;
  std::string prefix;  // as Registry::put_manifest is told
  std::string bytes;
};

struct ToRedis {
  std::vector<PeerChange> peers;
  std::vector<SharedManifest> manifests;
  std::vector<ContentId> held;    // manifests that Redis is to keep on, or to be given
  std::vector<ContentId> wanted;  // manifests to be fetched, if Redis has them
};

struct FromRedis {
  std::vector<PeerChange> peers;
  std::vector<SharedManifest> manifests;  // checked in full
  std::vector<ContentId> offered;         // manifests that Redis has
  std::vector<ContentId> missing;         // manifests that are held, and that Redis has not
};

}  // namespace firn::tracker
