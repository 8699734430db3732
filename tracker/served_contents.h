// Which contents a tracker serves: all of them, or those on its operator's lists. A list of
// publishers admits the contents whose hosted manifest one of them signed; so such a content's
// manifest comes before its first announce. A list of contents admits those, as announces name them
// (a private content by its rendezvous id). With two lists either admits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "proto/base/ids.h"
#include "proto/content/manifest.h"
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

  // May read the hosted manifest.
  bool serves(const ContentId& content);
  // Whether a manifest of the content can be admitted, as far as can be said before it comes.
  bool may_admit(const ContentId& content) const {
    return lists_.publishers || open() || listed(content);
  }
  // Whether a peer may put the content's manifest before it has announced itself.
  bool takes_manifest_first(const ContentId& content);
  // The hosted manifest gave way to another.
  void manifest_changed(const ContentId& content);
  // Whether the content is served once this manifest of it, checked in full, is hosted.
  bool admits(const Manifest& manifest) const;
  // Likewise of a sealed one, which says nothing of its publisher.
  bool admits_sealed(const ContentId& content) const { return open() || listed(content); }
  // Whether the publisher's quota has room for the manifest, of so many bytes, that was admitted;
  // if so it is to be hosted, or given up. Otherwise why not. Other manifests of its may give way.
  std::optional<std::string> refuses_manifest(const Manifest& manifest, std::uint64_t bytes);
  void given_up(const Manifest& manifest);
  void hosted(const ContentId& content);
  // Whether the quota of the content's publisher has room for this peer, if it is a new one.
  std::optional<std::string> refuses_peer(const ContentId& content, const PeerId& peer, Time now);
  // Reads some of the manifests that were hosted before, to know whose they are.
  void look_some(Time now);
  void describe(Snapshot& snapshot) const;

  // For a client that is refused: why, and what to do.
  std::string refusal() const;

 private:
  using Keys = std::vector<PublicKey>;

  bool open() const { return !lists_.publishers && !lists_.contents; }
  bool listed(const ContentId& content) const;
  bool known(const Keys& publishers) const;
  // Null: none, or not one that is listed.
  const PublisherList::value_type* listed_among(const Keys& publishers) const;
  void count_anew();
  const Keys& publishers_of(const ContentId& content);
  std::string read_manifest(const ContentId& content);

  Registry& registry_;
  ServedLists lists_;
  PublisherQuotas quotas_;
  std::deque<ContentId> unread_;  // hosted, and whose is not known yet
  struct Shown {
    Keys publishers;
    std::uint64_t bytes = 0;
  };
  std::unordered_map<ContentId, Shown> shown_;  // by hosted manifests that were asked about
};

}  // namespace firn::tracker
