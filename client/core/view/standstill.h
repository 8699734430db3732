// Why a download does not move, as far as this peer knows: facts for the driver to put into words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/base/types.h"
#include "proto/base/result.h"
#include "proto/messages.h"

namespace firn::core {

struct Parts;  // parts.h

// What a tracker has said last.
struct TrackerStanding {
  enum class Kind { kNoAnswerYet, kFailed, kAnswered };
  Kind kind = Kind::kNoAnswerYet;
  Address address;
  std::string error;        // kFailed
  std::uint32_t swarm = 0;  // kAnswered: peers of the content that it knows, us among them
  TimeUs since = 0;         // kNoAnswerYet: it is being asked
};

// What came of an address that does not lead to a connected peer.
struct AddressStanding {
  Address address;
  bool by_hand = false;
  bool calling = false;  // since `since`, without an answer so far
  TimeUs since = 0;
  std::string error;  // of the last call that ended, or of the connection; empty: none has
};

// A neighbour from which nothing comes.
struct NeighbourStanding {
  enum class Kind {
    kNoHello,  // nothing at all so far
    kNoState,  // it has not said what it holds
    kLacks,    // it holds nothing that we lack
    kSilent,   // it could send, and may
  };
  Kind kind = Kind::kNoHello;
  PeerId id;
  std::string endpoint;
  TimeUs heard_at = 0;
  std::uint64_t withdrawn_bytes = 0;  // that it cannot serve any more, and we lack
};

// Manifests have come in other envelopes than that of the publisher asked for.
struct ForeignManifest {
  Error error;               // of the first
  TimeUs since = 0;          // when it came
  bool others_wait = false;  // a known source has not been asked, or still sends
};

struct Standstill {
  enum class Kind {
    kStorePaused,  // the disk takes nothing: store_error
    kStoreBehind,  // rows wait in memory for the disk
    kLimited,      // the download limit is used up for now
    kFinishing,    // everything is there; the files get their final names
    kDecoding,     // what is missing has come and is being decoded
    kNobody,       // no neighbour: see trackers and addresses
    kNoManifest,   // no neighbour has sent the manifest
    kNoState,      // no neighbour has said what it holds
    kLacking,      // no neighbour holds anything that we lack: see lacking_bytes
    kSilent,       // some neighbours could send, and do not
  };
  Kind kind = Kind::kNobody;
  std::string store_error;
  std::vector<TrackerStanding> trackers;
  std::vector<AddressStanding> addresses;  // the first kAddressesMax
  std::vector<NeighbourStanding> neighbours;
  std::uint64_t lacking_bytes = 0;  // of the generations looked at, those that nobody can help with

  static constexpr std::size_t kAddressesMax = 64;
};

// Finds why the download does not move. The driver asks when nothing has come for a while. A
// generation of which no neighbour holds more rows than we do then counts as lacking: if spans of
// equal rank differed, null vectors would have shown that by now.
Standstill standstill_of(Parts& parts);

}  // namespace firn::core
