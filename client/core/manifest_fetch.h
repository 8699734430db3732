// Getting the manifest when there was only a link: from a tracker or from one neighbour at a time,
// in parts. The content id proves the info part alone; whoever sends the file may have put anything
// around it. So the whole is read before it counts as found, and what is kept of it names no
// trackers: a stranger's are neither asked nor passed on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "client/core/types.h"
#include "proto/manifest.h"
#include "proto/messages.h"
#include "proto/result.h"

namespace firn::core {

class ManifestFetch {
 public:
  explicit ManifestFetch(const ContentId& id) : id_(id) {}

  // The neighbour being asked; kNoPeer: none, ask one.
  PeerKey source() const { return source_; }
  // Starts with this neighbour; returns the first request.
  proto::ManifestRequest begin(PeerKey peer, TimeUs now);
  // Whether it may be asked: it was not before, or it has answered, and that long enough ago.
  bool may_ask(PeerKey peer, TimeUs now) const;

  enum class Progress { kMore, kDone, kFalse /* the neighbour broke the rules or lied */, kNone };
  struct Step {
    Progress progress = Progress::kMore;
    proto::ManifestRequest next;
  };
  Step part(PeerKey peer, const proto::ManifestPart& part, TimeUs now);
  // What was found, after kDone.
  Manifest take() { return std::move(*found_); }

  // The connection is gone.
  void peer_gone(PeerKey peer);
  // The neighbour being asked does not answer, or too slowly: another should be.
  bool overdue(TimeUs now) const { return source_ != kNoPeer && now >= patience(); }
  // When overdue() or, for somebody, may_ask() turns true.
  TimeUs next_review(TimeUs now) const;

  // The manifest in a file that came from the network, without the trackers it names. Errors: those
  // of parse_manifest, for another content's too.
  Result<Manifest> read(std::string_view file_bytes) const;

 private:
  void give_up();
  TimeUs patience() const;  // until when the source must have sent the next part

  ContentId id_;
  PeerKey source_ = kNoPeer;
  struct Asked {
    TimeUs again = 0;  // it may be asked then
    bool answered = false;
  };
  std::map<PeerKey, Asked> asked_;  // connected neighbours
  std::string data_;
  std::optional<Manifest> found_;
  std::uint64_t total_ = 0;
  TimeUs began_ = 0;
  TimeUs last_ = 0;
};

}  // namespace firn::core
