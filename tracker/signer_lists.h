// In whose envelopes each content's manifest is hosted, the one that was kept first before others.
#pragma once

#include <unordered_map>
#include <vector>

#include "tracker/registry.h"

namespace firn::tracker {

// One thread.
class SignerLists {
 public:
  using List = std::vector<PublicKey>;

  // Until the next change.
  const List& of(const ContentId& content) const {
    static const List none;
    const auto found = lists_.find(content);
    return found == lists_.end() ? none : found->second;
  }
  // One that is not there.
  void add(const Envelope& envelope) { lists_[envelope.content].push_back(envelope.signer); }
  void remove(const Envelope& envelope) {
    const auto found = lists_.find(envelope.content);
    if (found == lists_.end()) return;
    std::erase(found->second, envelope.signer);
    if (found->second.empty()) lists_.erase(found);
  }

 private:
  std::unordered_map<ContentId, List> lists_;
};

}  // namespace firn::tracker
