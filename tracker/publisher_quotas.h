// How much of a tracker each listed publisher takes, within one shard, and whether it may take
// more: contents, bytes of their manifests, peers in their swarms. Knows which hosted manifests are
// whose from what it is told.
//
// A publisher that is at its bound of contents or bytes makes room with its own: hosted manifests
// without a peer give way, those known longest first. Manifests that gave way in the registry are
// noticed when their publisher is looked at.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "proto/base/ids.h"
#include "tracker/publisher_ledger.h"
#include "tracker/registry.h"

namespace firn::tracker {

using PublisherList = std::unordered_map<PublicKey, PublisherLimits>;

// One thread.
class PublisherQuotas {
 public:
  // `registry` outlives it.
  PublisherQuotas(Registry& registry, std::shared_ptr<PublisherLedger> ledger)
      : registry_(registry), ledger_(std::move(ledger)), member_(ledger_->join()) {}

  // A manifest in its signer's envelope is hosted. One that is known already: no harm.
  void hosted(const Envelope& envelope);
  bool knows(const Envelope& envelope) const;

  // Whether `key` may have one more manifest of `bytes`; then it is counted until hosted() or
  // given_up(). Otherwise the reason, for the peer that puts it. Others of its may give way, in the
  // registry too; none does where all of them make too little room.
  std::optional<std::string> refuses_manifest(const PublicKey& key, const PublisherLimits& limits,
                                              std::uint64_t bytes);
  void given_up(const PublicKey& key);
  // Whether a swarm of `key` may have one more peer; then it is counted.
  std::optional<std::string> refuses_peer(const PublicKey& key, const PublisherLimits& limits,
                                          Time now);

  // Counts the peers of some publishers anew, in turn, until kLookedAt contents or more were looked
  // at: a publisher's are looked at together, however many there are.
  void look_some(Time now);
  // Forgets all. What is hosted is to be told again.
  void clear();

  // All shards together; nothing from any but the first of them, so that sums have each once.
  void describe(const PublisherList& listed, Snapshot& snapshot) const;

 private:
  static constexpr std::size_t kLookedAt = 1000;

  struct Content {
    std::uint64_t bytes = 0;
    std::uint64_t number = 0;  // later ones have higher numbers
  };
  struct Publisher {
    std::unordered_map<ContentId, Content> contents;
    PublisherUse use;
    Time looked{};  // when peers were counted
  };

  void look(const PublicKey& key, Publisher& publisher, Time now);
  std::optional<std::vector<ContentId>> making_room(const PublisherUse& sum,
                                                    const Publisher& publisher,
                                                    const PublisherLimits& limits,
                                                    std::uint64_t bytes) const;
  void drop(const PublicKey& key, Publisher& publisher, const ContentId& content);

  Registry& registry_;
  const std::shared_ptr<PublisherLedger> ledger_;
  const PublisherLedger::Member member_;
  std::map<PublicKey, Publisher> publishers_;
  std::uint64_t last_number_ = 0;
  PublicKey looked_at_{};  // last
};

}  // namespace firn::tracker
