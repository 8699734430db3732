#include "tracker/publisher_ledger.h"

namespace firn::tracker {
namespace {

bool exceeds(std::uint64_t sum, std::uint64_t limit, std::uint64_t now, std::uint64_t before) {
  return limit > 0 && sum > limit && now > before;
}

}  // namespace

PublisherLedger::Member PublisherLedger::join() {
  const std::lock_guard lock(mutex_);
  for (auto& [key, parts] : parts_) parts.emplace_back();
  return members_++;
}

PublisherUse PublisherLedger::sum_of(const Parts& parts) {
  PublisherUse sum;
  for (const PublisherUse& part : parts) {
    sum.contents += part.contents;
    sum.manifest_bytes += part.manifest_bytes;
    sum.peers += part.peers;
  }
  return sum;
}

PublisherLedger::Parts& PublisherLedger::parts_of(const PublicKey& key) {
  return parts_.try_emplace(key, members_).first->second;
}

void PublisherLedger::tell(Member member, const PublicKey& key, const PublisherUse& use) {
  const std::lock_guard lock(mutex_);
  Parts& parts = parts_of(key);
  parts[member] = use;
  if (sum_of(parts) == PublisherUse()) parts_.erase(key);
}

bool PublisherLedger::take(Member member, const PublicKey& key, const PublisherUse& use,
                           const PublisherLimits& limits) {
  const std::lock_guard lock(mutex_);
  Parts& parts = parts_of(key);
  const PublisherUse before = std::exchange(parts[member], use);
  const PublisherUse sum = sum_of(parts);
  if (!exceeds(sum.contents, limits.contents, use.contents, before.contents) &&
      !exceeds(sum.manifest_bytes, limits.manifest_bytes, use.manifest_bytes,
               before.manifest_bytes) &&
      !exceeds(sum.peers, limits.peers, use.peers, before.peers))
    return true;
  parts[member] = before;
  return false;
}

PublisherUse PublisherLedger::sum(const PublicKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = parts_.find(key);
  return found == parts_.end() ? PublisherUse() : sum_of(found->second);
}

std::vector<std::pair<PublicKey, PublisherUse>> PublisherLedger::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<PublicKey, PublisherUse>> all;
  for (const auto& [key, parts] : parts_)
    if (const PublisherUse sum = sum_of(parts); sum != PublisherUse()) all.emplace_back(key, sum);
  return all;
}

}  // namespace firn::tracker
