// What a tracker remembers: which peers share which content, and the manifests it hosts. The
// announce core asks and tells a Registry; behind it lies memory alone, memory with SQLite behind
// (so that a restart keeps swarms), or one of these with Redis behind (so that several trackers
// serve the same swarms: tracker/redis).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/base/ids.h"
#include "proto/base/result.h"
#include "proto/messages.h"
#include "proto/packed_endpoint.h"
#include "tracker/snapshot.h"

namespace firn::tracker {

// Since a moment that the caller chose; never goes back.
using Time = std::chrono::milliseconds;

// Any generator of chance with a seed; the core is given one.
using Random = std::mt19937_64;

struct Peer {
  proto::PeerEndpoint endpoint;  // port 0: counts, but is not handed out
  bool complete = false;
  bool operator==(const Peer&) const = default;
};

// The same, as it is kept.
struct PackedPeer {
  proto::PackedEndpoint endpoint;
  bool complete = false;
  std::uint8_t lacks_percent = 0;  // of the content; 0: complete, or not said
  // What is stored, and told to other trackers: not how much a peer lacks, which only the page
  // shows.
  bool operator==(const PackedPeer& other) const {
    return endpoint == other.endpoint && complete == other.complete;
  }
};
// Its address is numeric (FIRN_CHECK): it comes from a socket, or was checked.
PackedPeer pack(const Peer& from);
Peer unpack(const PackedPeer& from);

// A hosted manifest: a content's info part as one publisher has signed it, or as nobody has.
// Anybody can put another envelope around the same info part, so that a content may have several.
struct Envelope {
  // The unsigned one.
  Envelope(const ContentId& of) : content(of) {}
  Envelope(const ContentId& of, const PublicKey& by) : content(of), signer(by) {}
  ContentId content;
  PublicKey signer;  // zeros, which are no key: nobody
  auto operator<=>(const Envelope&) const = default;
};

// What is known of it beside its bytes.
struct Hosted {
  std::uint64_t bytes = 0;
  std::string prefix;  // of its sender (prefix_of)
};

// Names a peer among those of all contents.
using PeerKey = std::pair<ContentId, PeerId>;

// With the time of its last announce.
struct SeenPeer {
  PackedPeer peer;
  Time seen{};
};

struct SwarmCounts {
  std::uint32_t complete = 0;
  std::uint32_t incomplete = 0;
  std::uint64_t size() const { return std::uint64_t{complete} + incomplete; }
  bool operator==(const SwarmCounts&) const = default;
};

struct SampleRequest {
  PeerId asker;  // never handed out to itself
  std::size_t peers_max = 0;
  bool complete_too = true;  // complete peers have no use for each other
};

using Endpoints = std::vector<proto::PackedEndpoint>;

struct RegistryLimits {
  std::size_t content_count_max = 100'000;
  std::size_t peer_count_max = 1'000'000;  // over all contents
  std::size_t peers_per_content_max = 50'000;
  // Whose peers fill the table is counted, which takes six tenths of the peers' memory again, from
  // when a quarter of its places, or this number, are free.
  std::size_t peer_places_spare = 65'536;
  // Peers of one network (an IPv4 address, an IPv6 /64) in one content that are handed out.
  std::size_t listed_per_network_max = 64;
  std::size_t manifest_count_max = 100'000;
  std::uint64_t manifest_bytes_total_max = 1ull << 30;
  std::size_t envelopes_per_content_max = 4;
  // One prefix's manifests may take 1 / manifest_shares of that room, and always one manifest.
  std::uint32_t manifest_shares = 4;
};

// With several registries, each has a shard of the contents (of 0 to shards - 1), and a part of
// what may be kept in all; but the room for manifests they share, as one may take all of it.
std::size_t shard_of(const ContentId& content, std::size_t shards);
RegistryLimits limits_of_shard(RegistryLimits limits, std::size_t shards);

// Whether a reading of a manifest counts when the longest unused one is to give way.
enum class ManifestReading { kUse, kLook };

enum class AnnounceOutcome {
  kKept,
  kSwarmFull,    // the content has as many peers as it may have, and none gives way
  kTrackerFull,  // as many contents or peers as there may be, and none gives way
};

// One thread.
class Registry {
 public:
  virtual ~Registry() = default;

  // Adds the peer or brings it up to date. Where there is no room others may give way
  // (fair_shares.h). A peer that is not admitted is not kept.
  virtual AnnounceOutcome announce(const ContentId& content, const PackedPeer& peer, Time now) = 0;
  AnnounceOutcome announce(const ContentId& content, const Peer& peer, Time now) {
    return announce(content, pack(peer), now);
  }
  virtual void leave(const ContentId& content, const PeerId& peer) = 0;
  // Forgets the peers whose last announce came before `before`.
  virtual void expire(Time before) = 0;
  virtual SwarmCounts counts(const ContentId& content) const = 0;
  // Different reachable peers of the content at random, spread over prefixes (swarm.h). Replaces
  // what `into` holds.
  virtual void sample(const ContentId& content, const SampleRequest& request, Random& random,
                      Endpoints& into) const = 0;
  std::vector<proto::PeerEndpoint> sample(const ContentId& content, const SampleRequest& request,
                                          Random& random) const;

  // Fills in the swarms and their peers.
  virtual void describe(Snapshot& snapshot) const = 0;
  // nullopt unless it has announced itself in the content's swarm and is not forgotten.
  virtual std::optional<SeenPeer> find(const ContentId& content, const PeerId& peer) const = 0;
  bool has_peer(const ContentId& content, const PeerId& peer) const {
    return find(content, peer).has_value();
  }
  // When a peer of the content announced itself last; nullopt: there is none such.
  std::optional<Time> announced_at(const ContentId& content, const PeerId& peer) const {
    const auto found = find(content, peer);
    return found ? std::optional(found->seen) : std::nullopt;
  }
  // Those with peers.
  virtual std::vector<ContentId> contents() const = 0;
  virtual void for_each_peer(const ContentId& content,
                             const std::function<void(const SeenPeer&)>& visit) const = 0;
  // After how long the caller of expire() forgets a silent peer: for a registry that others share.
  virtual void keep_for(Time) {}

  // In whose envelopes the content's manifest is hosted, the one that was kept first before others.
  // The list lasts until the next call that may change it.
  virtual const std::vector<PublicKey>& signers_of(const ContentId& content) const = 0;
  bool has_manifest(const ContentId& content) const { return !signers_of(content).empty(); }
  bool hosts(const Envelope& envelope) const {
    return std::ranges::count(signers_of(envelope.content), envelope.signer) > 0;
  }
  // Those that are hosted.
  virtual std::vector<Envelope> hosted_manifests() const = 0;
  virtual std::optional<Hosted> hosted(const Envelope& envelope) const = 0;
  // Keeps a manifest that was checked and comes from `prefix` (prefix_of), in its signer's
  // envelope, unless that is hosted; drops others until there is room (manifest_shelf.h). Errors:
  // kBadInput (larger than all the room there may be), those of the disk.
  virtual Status put_manifest(const ContentId& content, const std::string& prefix,
                              std::string_view bytes) = 0;
  // Errors: those of the disk; then it is kept.
  virtual Status remove_manifest(const Envelope& envelope) = 0;
  // Up to `bytes_max` bytes from `offset`; total_bytes 0 if there is none.
  virtual Result<proto::ManifestPart> manifest_part(
      const Envelope& envelope, std::uint64_t offset, std::size_t bytes_max,
      ManifestReading reading = ManifestReading::kUse) = 0;

  // Carries what changed to the disk, if there is one behind. What could not be carried is tried
  // again with the next call; nothing is lost from memory.
  virtual Status flush() = 0;
  // The same of a part, so that announces do not wait long: called a few times a second it carries
  // all that changes within a second or two.
  virtual Status flush_some() { return flush(); }
};

}  // namespace firn::tracker

template <>
struct std::hash<firn::tracker::Envelope> {
  std::size_t operator()(const firn::tracker::Envelope& envelope) const noexcept {
    return std::hash<firn::ContentId>()(envelope.content) ^
           std::hash<firn::PublicKey>()(envelope.signer);
  }
};
