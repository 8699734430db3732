// What each listed publisher's contents take of a tracker, all shards together. A shard tells what
// is in it; a bound holds for the sum.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "proto/base/ids.h"

namespace firn::tracker {

struct PublisherUse {
  std::uint64_t contents = 0;  // hosted manifests
  std::uint64_t manifest_bytes = 0;
  std::uint64_t peers = 0;  // over its contents
  bool operator==(const PublisherUse&) const = default;
};

// 0: no bound.
struct PublisherLimits {
  std::uint64_t contents = 0;
  std::uint64_t manifest_bytes = 0;
  std::uint64_t peers = 0;
  bool operator==(const PublisherLimits&) const = default;
};

// Any thread.
class PublisherLedger {
 public:
  using Member = std::size_t;  // a shard

  Member join();
  // The member's part of what `key` takes.
  void tell(Member member, const PublicKey& key, const PublisherUse& use);
  // The same, unless all together would then be over a limit, and this member's part were more than
  // it is.
  bool take(Member member, const PublicKey& key, const PublisherUse& use,
            const PublisherLimits& limits);
  // All together, and those that take anything.
  PublisherUse sum(const PublicKey& key) const;
  std::vector<std::pair<PublicKey, PublisherUse>> all() const;

 private:
  using Parts = std::vector<PublisherUse>;  // by member

  static PublisherUse sum_of(const Parts& parts);
  Parts& parts_of(const PublicKey& key);

  mutable std::mutex mutex_;  // guards what follows
  std::size_t members_ = 0;
  std::map<PublicKey, Parts> parts_;
};

}  // namespace firn::tracker
