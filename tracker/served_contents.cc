#include "tracker/served_contents.h"

namespace firn::tracker {

ServedContents::ServedContents(Registry& registry, ServedLists lists,
                               std::shared_ptr<PublisherLedger> ledger)
    : registry_(registry), quotas_(registry, std::move(ledger)) {
  change(std::move(lists));
}

// Others may be listed now.
void ServedContents::change(ServedLists lists) {
  lists_ = std::move(lists);
  quotas_.clear();
  if (!lists_.publishers) return;
  for (const Envelope& envelope : registry_.hosted_manifests()) hosted(envelope);
}

bool ServedContents::listed(const ContentId& content) const {
  return lists_.contents && lists_.contents->contains(content);
}

const PublisherList::value_type* ServedContents::listed_publisher(const PublicKey& key) const {
  if (!lists_.publishers) return nullptr;
  const auto found = lists_.publishers->find(key);
  return found == lists_.publishers->end() ? nullptr : &*found;
}

const PublisherList::value_type* ServedContents::publisher_of(const ContentId& content) const {
  if (!lists_.publishers) return nullptr;
  for (const PublicKey& signer : registry_.signers_of(content))
    if (const auto* publisher = listed_publisher(signer)) return publisher;
  return nullptr;
}

bool ServedContents::serves(const ContentId& content) const {
  return open() || listed(content) || publisher_of(content) != nullptr;
}

std::optional<std::string> ServedContents::refuses_manifest(const Envelope& envelope,
                                                            std::uint64_t bytes) {
  const auto* publisher = listed_publisher(envelope.signer);
  if (publisher == nullptr) return std::nullopt;
  return quotas_.refuses_manifest(publisher->first, publisher->second, bytes);
}

void ServedContents::given_up(const Envelope& envelope) {
  if (listed_publisher(envelope.signer)) quotas_.given_up(envelope.signer);
}

void ServedContents::hosted(const Envelope& envelope) {
  if (listed_publisher(envelope.signer)) quotas_.hosted(envelope);
}

// Other trackers may have brought the manifest (tracker/redis).
std::optional<std::string> ServedContents::refuses_peer(const ContentId& content,
                                                        const PeerId& peer, Time now) {
  const auto* publisher = publisher_of(content);
  if (publisher == nullptr) return std::nullopt;
  const auto& [key, limits] = *publisher;
  if (!quotas_.knows({content, key})) quotas_.hosted({content, key});
  if (limits.peers == 0 || registry_.has_peer(content, peer)) return std::nullopt;
  return quotas_.refuses_peer(key, limits, now);
}

void ServedContents::look_some(Time now) {
  if (lists_.publishers) quotas_.look_some(now);
}

void ServedContents::describe(Snapshot& snapshot) const {
  if (lists_.publishers) quotas_.describe(*lists_.publishers, snapshot);
}

std::string ServedContents::refusal() const {
  if (!lists_.publishers)
    return "this tracker serves only contents that its operator lists: ask the operator, or use "
           "another tracker";
  return "this tracker serves only publishers that its operator lists: share with --sign and the "
         "key of one of them, ask the operator, or use another tracker";
}

}  // namespace firn::tracker
