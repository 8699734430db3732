// Getting the manifest when there was only a link: from a tracker, or from one neighbour at a time,
// in parts. The content id proves the info part alone; the peer that sends the file may have put
// anything around it. So the whole is read before it counts as found, and what is kept of it names
// no trackers: a stranger's are neither asked nor passed on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "client/core/context.h"
#include "client/core/life.h"
#include "client/core/membership.h"
#include "client/core/outbox.h"
#include "proto/base/result.h"
#include "proto/content/manifest.h"
#include "proto/messages.h"

namespace firn::core {

class ManifestFetch final : public LeaveWatcher {
 public:
  ManifestFetch(const Context& context, Life& life, Membership& membership, Outbox& outbox);

  // It is there: nothing is asked for, and nothing is taken, from now on.
  bool found() const { return found_; }
  void set_found() { found_ = true; }

  // Asks a neighbour if none is being asked, or another one if that one is overdue.
  void ask();
  // A part has come from a neighbour.
  void part(Neighbour& n, const proto::ManifestPart& part);
  // A tracker has the manifest.
  void offered_by(std::size_t tracker);
  void tracker_answered(std::size_t tracker, const Result<std::string>& file_bytes);
  // When ask() has something to do because of time alone.
  TimeUs next_due() const;

  void leaves(const Neighbour& n) override;

 private:
  enum class Progress { kMore, kDone, kFalse /* the neighbour broke the rules or lied */, kNone };
  Progress take_part(PeerKey peer, const proto::ManifestPart& part);
  bool fits(const proto::ManifestPart& part) const;
  Result<Manifest> read(std::string_view file_bytes) const;
  void arrived(Manifest manifest);
  Neighbour* next_holder();
  bool may_ask(PeerKey peer) const;
  bool overdue() const { return source_ != kNoPeer && context_.now >= patience(); }
  TimeUs patience() const;
  void give_up();

  const Context& context_;
  Life& life_;
  Membership& membership_;
  Outbox& outbox_;
  bool found_ = false;
  bool tracker_busy_ = false;  // one has been asked
  PeerKey source_ = kNoPeer;   // the neighbour being asked; kNoPeer: none
  struct Asked {
    TimeUs again = 0;  // it may be asked then
    bool answered = false;
  };
  std::map<PeerKey, Asked> asked_;  // connected neighbours
  std::string data_;
  std::uint64_t total_ = 0;
  TimeUs began_ = 0;
  TimeUs last_ = 0;
};

}  // namespace firn::core
