// Which contents a tracker serves: all of them, or those on its operator's lists. A list of
// publishers admits the contents whose manifest is hosted in an envelope that one of them signed;
// so such a content's manifest comes before its first announce. A list of contents admits those, as
// announces name them (a private content by its rendezvous id). With two lists either admits.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "proto/base/ids.h"
#include "tracker/publisher_quotas.h"
#include "tracker/registry.h"

namespace firn::tracker {

struct ServedLists {
  std::optional<PublisherList> publishers;
  std::optional<std::unordered_set<ContentId>> contents;
};

// One thread.
class ServedContents {
 public:
  // `registry` outlives it.
  ServedContents(Registry& registry, ServedLists lists, std::shared_ptr<PublisherLedger> ledger);

  // Other lists from now on.
  void change(ServedLists lists);

  bool serves(const ContentId& content) const;
  // Whether a manifest of the content can be admitted, as far as can be said before it comes.
  bool may_admit(const ContentId& content) const {
    return lists_.publishers || open() || listed(content);
  }
  // Whether a peer may put the content's manifest before it has announced itself.
  bool takes_manifest_first(const ContentId& content) const {
    return lists_.publishers && !serves(content);
  }
  // Whether the content is served once its manifest is hosted in this envelope.
  bool admits(const Envelope& envelope) const {
    return open() || listed(envelope.content) || listed_publisher(envelope.signer) != nullptr;
  }
  // Whether the publisher's quota has room for the manifest, of so many bytes, that was admitted;
  // if so it is to be hosted, or given up. Otherwise why not. Other manifests of its may give way.
  std::optional<std::string> refuses_manifest(const Envelope& envelope, std::uint64_t bytes);
  void given_up(const Envelope& envelope);
  void hosted(const Envelope& envelope);
  // Whether the quota of the content's publisher has room for this peer, if it is a new one.
  std::optional<std::string> refuses_peer(const ContentId& content, const PeerId& peer, Time now);
  void look_some(Time now);
  void describe(Snapshot& snapshot) const;

  // For a client that is refused: why, and what to do.
  std::string refusal() const;

 private:
  bool open() const { return !lists_.publishers && !lists_.contents; }
  bool listed(const ContentId& content) const;
  // Null: it is not listed.
  const PublisherList::value_type* listed_publisher(const PublicKey& key) const;
  // Of the content's publishers the first that is listed; null: none.
  const PublisherList::value_type* publisher_of(const ContentId& content) const;

  Registry& registry_;
  ServedLists lists_;
  PublisherQuotas quotas_;
};

}  // namespace firn::tracker
