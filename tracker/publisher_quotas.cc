#include "tracker/publisher_quotas.h"

#include <algorithm>

namespace firn::tracker {
namespace {

constexpr std::chrono::seconds kLookEvery{1};

std::string refusal(std::uint64_t limit, const char* of_what) {
  return "this tracker's operator allows this publisher " + std::to_string(limit) + " " + of_what +
         ": ask the operator, or use another tracker";
}

}  // namespace

bool PublisherQuotas::knows(const Envelope& envelope) const {
  const auto publisher = publishers_.find(envelope.signer);
  return publisher != publishers_.end() && publisher->second.contents.contains(envelope.content);
}

void PublisherQuotas::hosted(const Envelope& envelope) {
  const auto& [content, key] = envelope;
  if (knows(envelope)) return given_up(key);
  Publisher& publisher = publishers_[key];
  const auto there = registry_.hosted(envelope);
  const std::uint64_t bytes = there ? there->bytes : 0;
  publisher.contents[content] = {bytes, ++last_number_};
  ++publisher.use.contents;
  publisher.use.manifest_bytes += bytes;
  publisher.use.peers += registry_.counts(content).size();
  ledger_->tell(member_, key, publisher.use);
}

void PublisherQuotas::drop(const PublicKey& key, Publisher& publisher, const ContentId& content) {
  const auto found = publisher.contents.find(content);
  PublisherUse& use = publisher.use;
  --use.contents;
  use.manifest_bytes -= found->second.bytes;
  use.peers -= std::min<std::uint64_t>(use.peers, registry_.counts(content).size());
  publisher.contents.erase(found);
  ledger_->tell(member_, key, use);
}

// Counts anew, and forgets what gave way in the registry.
void PublisherQuotas::look(const PublicKey& key, Publisher& publisher, Time now) {
  publisher.looked = now;
  std::vector<ContentId> given_way;
  std::uint64_t peers = 0;
  for (const auto& [content, known] : publisher.contents) {
    if (registry_.hosts({content, key})) {
      peers += registry_.counts(content).size();
    } else {
      given_way.push_back(content);
    }
  }
  for (const ContentId& content : given_way) drop(key, publisher, content);
  publisher.use.peers = peers;
  ledger_->tell(member_, key, publisher.use);
}

// Those without a peer, known longest first, that make room for one more manifest of `bytes`; no
// value where all of them do not.
std::optional<std::vector<ContentId>> PublisherQuotas::making_room(const PublisherUse& sum,
                                                                   const Publisher& publisher,
                                                                   const PublisherLimits& limits,
                                                                   std::uint64_t bytes) const {
  std::vector<std::pair<std::uint64_t, ContentId>> idle;  // by number
  for (const auto& [content, known] : publisher.contents)
    if (registry_.counts(content).size() == 0) idle.emplace_back(known.number, content);
  std::sort(idle.begin(), idle.end());
  std::vector<ContentId> leaving;
  std::uint64_t contents = sum.contents + 1, total = sum.manifest_bytes + bytes;
  const auto fits = [&] {
    return (limits.contents == 0 || contents <= limits.contents) &&
           (limits.manifest_bytes == 0 || total <= limits.manifest_bytes);
  };
  for (auto next = idle.begin(); !fits(); ++next) {
    if (next == idle.end()) return std::nullopt;
    leaving.push_back(next->second);
    --contents;
    total -= publisher.contents.at(next->second).bytes;
  }
  return leaving;
}

std::optional<std::string> PublisherQuotas::refuses_manifest(const PublicKey& key,
                                                             const PublisherLimits& limits,
                                                             std::uint64_t bytes) {
  if (limits.manifest_bytes > 0 && bytes > limits.manifest_bytes)
    return refusal(limits.manifest_bytes, "bytes of manifests, and this one has more");
  Publisher& publisher = publishers_[key];
  const auto takes = [&] {
    PublisherUse use = publisher.use;
    ++use.contents;
    use.manifest_bytes += bytes;
    return ledger_->take(member_, key, use, limits);
  };
  if (takes()) return std::nullopt;
  look(key, publisher, publisher.looked);
  if (takes()) return std::nullopt;
  const PublisherUse sum = ledger_->sum(key);
  if (const auto leaving = making_room(sum, publisher, limits, bytes)) {
    for (const ContentId& content : *leaving) {
      if (!registry_.remove_manifest({content, key}).ok()) break;
      drop(key, publisher, content);
    }
    if (takes()) return std::nullopt;
  }
  if (publisher.contents.empty()) publishers_.erase(key);
  return limits.contents > 0 && sum.contents >= limits.contents
             ? refusal(limits.contents, "contents, and too few of these are without peers")
             : refusal(limits.manifest_bytes,
                       "bytes of manifests, too few of them of contents without peers");
}

void PublisherQuotas::given_up(const PublicKey& key) {
  const auto found = publishers_.find(key);
  if (found == publishers_.end()) return;
  ledger_->tell(member_, key, found->second.use);
  if (found->second.contents.empty()) publishers_.erase(found);
}

std::optional<std::string> PublisherQuotas::refuses_peer(const PublicKey& key,
                                                         const PublisherLimits& limits, Time now) {
  const auto found = publishers_.find(key);
  if (found == publishers_.end()) return std::nullopt;
  Publisher& publisher = found->second;
  const auto takes = [&] {
    PublisherUse use = publisher.use;
    ++use.peers;
    if (!ledger_->take(member_, key, use, limits)) return false;
    publisher.use = use;
    return true;
  };
  if (takes()) return std::nullopt;
  if (now - publisher.looked >= kLookEvery) {  // some may have left
    look(key, publisher, now);
    if (takes()) return std::nullopt;
  }
  return refusal(limits.peers, "peers over all its contents, and there are as many");
}

void PublisherQuotas::look_some(Time now) {
  std::size_t looked = 0;
  for (std::size_t i = publishers_.size(); i > 0 && looked < kLookedAt; --i) {
    auto next = publishers_.upper_bound(looked_at_);
    if (next == publishers_.end()) next = publishers_.begin();
    if (next == publishers_.end()) return;
    looked_at_ = next->first;
    looked += next->second.contents.size();
    look(next->first, next->second, now);
    if (next->second.contents.empty()) publishers_.erase(next);
  }
}

void PublisherQuotas::clear() {
  for (const auto& [key, publisher] : publishers_) ledger_->tell(member_, key, {});
  publishers_.clear();
}

void PublisherQuotas::describe(const PublisherList& listed, Snapshot& snapshot) const {
  if (member_ != 0) return;
  for (const auto& [key, use] : ledger_->all()) {
    const auto limits = listed.find(key);
    if (limits != listed.end()) snapshot.publishers.push_back({key, use, limits->second});
  }
  snapshot.sort();
}

}  // namespace firn::tracker
