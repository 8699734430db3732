#include "tracker/served_contents.h"

#include <algorithm>

#include "proto/base/limits.h"

namespace firn::tracker {
namespace {

// Then all are read again as they are asked about.
constexpr std::size_t kKeysKeptMax = 100'000;
constexpr std::size_t kReadAtOnce = 50;  // a second: 0.1 ms each
constexpr std::size_t kReadBytes = 1 << 20;

// The signature alone proves a publisher: anybody may name any key as a content's authority.
std::vector<PublicKey> keys_of(const Manifest& manifest) {
  if (!manifest.publisher) return {};
  return {*PublicKey::from_bytes(manifest.publisher->key)};
}

}  // namespace

bool ServedContents::listed(const ContentId& content) const {
  return lists_.contents && lists_.contents->contains(content);
}

ServedContents::ServedContents(Registry& registry, ServedLists lists,
                               std::shared_ptr<PublisherLedger> ledger)
    : registry_(registry), lists_(std::move(lists)), quotas_(registry, std::move(ledger)) {
  count_anew();
}

// Others may be listed now.
void ServedContents::change(ServedLists lists) {
  lists_ = std::move(lists);
  count_anew();
}

void ServedContents::count_anew() {
  quotas_.clear();
  unread_.clear();
  if (!lists_.publishers) return;
  for (const ContentId& content : registry_.hosted_manifests()) {
    const auto shown = shown_.find(content);
    if (shown == shown_.end()) {
      unread_.push_back(content);
    } else if (const auto* publisher = listed_among(shown->second.publishers)) {
      quotas_.hosted(content, publisher->first, shown->second.bytes);
    }
  }
}

const PublisherList::value_type* ServedContents::listed_among(const Keys& publishers) const {
  if (!lists_.publishers) return nullptr;
  for (const PublicKey& key : publishers) {
    const auto found = lists_.publishers->find(key);
    if (found != lists_.publishers->end()) return &*found;
  }
  return nullptr;
}

bool ServedContents::known(const Keys& publishers) const {
  return listed_among(publishers) != nullptr;
}

bool ServedContents::serves(const ContentId& content) {
  if (open() || listed(content)) return true;
  if (!lists_.publishers) return false;
  if (registry_.has_manifest(content)) return known(publishers_of(content));
  manifest_changed(content);  // it has made room for others
  return false;
}

bool ServedContents::takes_manifest_first(const ContentId& content) {
  return lists_.publishers && !serves(content);
}

void ServedContents::manifest_changed(const ContentId& content) {
  shown_.erase(content);
  quotas_.gone(content);
}

bool ServedContents::admits(const Manifest& manifest) const {
  return open() || listed(manifest.id) || known(keys_of(manifest));
}

const ServedContents::Keys& ServedContents::publishers_of(const ContentId& content) {
  const auto shown = shown_.find(content);
  if (shown != shown_.end()) return shown->second.publishers;
  if (shown_.size() >= kKeysKeptMax) shown_.clear();
  const std::string bytes = read_manifest(content);
  const auto manifest = parse_manifest(bytes, content);
  Keys keys = manifest.ok() ? keys_of(*manifest) : Keys{};
  if (const auto* publisher = listed_among(keys))
    quotas_.hosted(content, publisher->first, bytes.size());
  return (shown_[content] = {std::move(keys), bytes.size()}).publishers;
}

std::optional<std::string> ServedContents::refuses_manifest(const Manifest& manifest,
                                                            std::uint64_t bytes) {
  const auto* publisher = listed_among(keys_of(manifest));
  if (publisher == nullptr) return std::nullopt;
  std::vector<ContentId> dropped;
  auto refused = quotas_.refuses_manifest(publisher->first, publisher->second, bytes, dropped);
  for (const ContentId& content : dropped) shown_.erase(content);
  return refused;
}

void ServedContents::given_up(const Manifest& manifest) {
  if (const auto* publisher = listed_among(keys_of(manifest))) quotas_.given_up(publisher->first);
}

void ServedContents::hosted(const ContentId& content) {
  if (lists_.publishers) publishers_of(content);
}

std::optional<std::string> ServedContents::refuses_peer(const ContentId& content,
                                                        const PeerId& peer, Time now) {
  if (!lists_.publishers || !registry_.has_manifest(content)) return std::nullopt;
  const auto* publisher = listed_among(publishers_of(content));
  if (publisher == nullptr || publisher->second.peers == 0) return std::nullopt;
  if (registry_.has_peer(content, peer)) return std::nullopt;
  return quotas_.refuses_peer(publisher->first, publisher->second, now);
}

void ServedContents::look_some(Time now) {
  if (!lists_.publishers) return;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kReadAtOnce && bytes < kReadBytes && !unread_.empty(); ++i) {
    const ContentId content = unread_.front();
    unread_.pop_front();
    if (shown_.contains(content) || !registry_.has_manifest(content)) continue;
    publishers_of(content);
    bytes += shown_.at(content).bytes;
  }
  quotas_.look_some(now);
}

void ServedContents::describe(Snapshot& snapshot) const {
  if (lists_.publishers) quotas_.describe(*lists_.publishers, snapshot);
}

// Empty if it cannot be read.
std::string ServedContents::read_manifest(const ContentId& content) {
  std::string bytes;
  for (;;) {
    const auto part = registry_.manifest_part(content, bytes.size(), limits::kManifestPartBytes,
                                              ManifestReading::kLook);
    if (!part.ok() || part->data.empty()) return {};
    bytes += part->data;
    if (bytes.size() >= part->total_bytes) return bytes;
  }
}

std::string ServedContents::refusal() const {
  if (!lists_.publishers)
    return "this tracker serves only contents that its operator lists: ask the operator, or use "
           "another tracker";
  return "this tracker serves only publishers that its operator lists: share with --sign and the "
         "key of one of them, ask the operator, or use another tracker";
}

}  // namespace firn::tracker
