// Which rows of the database hold a shard's manifests.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "tracker/registry.h"
#include "tracker/signer_lists.h"

namespace firn::tracker {

// One thread.
class ManifestRows {
 public:
  // nullopt: none does.
  std::optional<std::int64_t> find(const Envelope& envelope) const {
    const auto found = rows_.find(envelope);
    return found == rows_.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<Envelope> all() const {
    std::vector<Envelope> all;
    for (const auto& [envelope, row] : rows_) all.push_back(envelope);
    return all;
  }
  const SignerLists::List& signers_of(const ContentId& content) const {
    return signers_.of(content);
  }

  // One that is not there, as the last kept of its content.
  void add(const Envelope& envelope, std::int64_t row) {
    rows_[envelope] = row;
    signers_.add(envelope);
  }
  void remove(const Envelope& envelope) {
    rows_.erase(envelope);
    signers_.remove(envelope);
  }

 private:
  std::unordered_map<Envelope, std::int64_t> rows_;
  SignerLists signers_;  // of the same
};

}  // namespace firn::tracker
