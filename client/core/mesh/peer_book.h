// The address book: all known addresses and identities, which address to call next, which not to
// call, which peers are banned. Knows nothing of messages.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/core/base/types.h"
#include "client/core/mesh/call_pacing.h"
#include "client/core/view/standstill.h"
#include "client/core/view/swarm_view.h"
#include "proto/messages.h"

namespace firn::core {

// An address is called again after this time, which doubles with each call in vain. Less: calls to
// the dead; more: a peer that returns is found late.
inline constexpr TimeUs kCallAgainFirst = 1 * kSecond;
inline constexpr TimeUs kCallAgainMax = 60 * kSecond;
inline constexpr TimeUs kUselessTime = 600 * kSecond;  // a useless peer is not called this long
// A peer that has no place, or made room for another, is left for this time. One that does not
// serve the content may be about to: it is called again after this time, then after twice that, up
// to kUselessTime. All peers of a swarm may have been told of it in error.
inline constexpr TimeUs kRefusedTime = 30 * kSecond;
// Bans, by number of strikes; further ones take as long as the last. Not for good, as an honest
// relay may pass on false rows. Less: polluters return; more: a mistake costs a neighbour.
inline constexpr TimeUs kBanTimes[] = {30 * kSecond, 600 * kSecond, 3600 * kSecond};

// For how long this number of strikes bans a peer.
TimeUs ban_time(std::uint32_t strikes);

class PeerBook {
 public:
  explicit PeerBook(const PeerId& self) : self_(self) {}

  // standings() says this of an address with our own id, which is never called.
  static constexpr char kOwnIdentity[] =
      "it has this program's own identity; if it is another machine, one of the two needs an "
      "identity.pem of its own";

  // Addresses given by a person are called for ever, others are given up after a few failures.
  // What trackers say and what peers say is kept apart, at most a thousand addresses of each. New
  // ones take the place of those that failed, then those of the source with most addresses: each
  // source has a share, and within it each prefix. Calls go to both alike, to a tracker's first.
  enum class Origin { kGossip, kTracker };
  void add(const Address& address, bool by_hand, TimeUs now);
  // `source`: names the tracker, or the prefix of the peer, that told the address.
  void add(const proto::PeerEndpoint& endpoint, TimeUs now, Origin origin = Origin::kGossip,
           const std::string& source = {});

  struct Call {
    std::uint64_t attempt = 0;
    Address address;
  };
  // The next address that is due, if any; it counts as being called until opened or failed.
  std::optional<Call> next_call(TimeUs now);
  std::uint32_t calling() const { return static_cast<std::uint32_t>(attempts_.size()); }
  // When next_call has something; kNever: not before something is added.
  TimeUs next_due() const { return quiet_until_ != 0 ? quiet_until_ : earliest(); }
  // Addresses kept.
  std::size_t size() const { return entries_.size(); }
  // Addresses that are due and have not failed since they were of use; counts no further than
  // `most`.
  std::size_t promising(TimeUs now, std::size_t most) const;
  // An address that has never been called is due.
  bool has_untried(TimeUs now) const;

  // The outcome of an attempt. opened() also books connections that came in (attempt 0). It returns
  // the text of an address given by hand without an id, whose first key this is: from now on that
  // address is held to it.
  std::string opened(std::uint64_t attempt, const PeerId& id);
  // A connection to `id` was of use: calls to it need not wait longer each time.
  void welcomed(const PeerId& id);
  // A connected peer told where it accepts connections.
  void answers_at(const PeerId& id, const Address& address, TimeUs now);
  // `why`, here and below, is for standings().
  void failed(std::uint64_t attempt, bool wrong_identity, TimeUs now, const std::string& why = {});
  // A connected peer says that it does not serve the content, `why` as for closed(), which follows.
  struct Unserved {
    TimeUs rest = 0;    // for closed()
    bool news = false;  // the last call there did not end so
  };
  Unserved unserved(const PeerId& id, const std::string& why);
  // The connection to `id` is gone; call again after a while, not before `rest` is over.
  void closed(const PeerId& id, TimeUs rest, TimeUs now, const std::string& why = {});

  // This peer wants something else than before: peers that were parted with as useless may be
  // called at once. Not those whose calls fail.
  void call_all_again(TimeUs now);

  // What came of the addresses that do not lead to a connected peer.
  // At most `count_max` of them: those given by hand first, then those that have been called, then
  // the others.
  std::vector<AddressStanding> standings(std::size_t count_max) const;

  // One more strike, and `at_least` so many; returns the number of strikes. bans() tells `why`.
  std::uint32_t strike(const PeerId& id, TimeUs now, std::uint32_t at_least = 1,
                       const std::string& why = {});
  bool banned(const PeerId& id, TimeUs now) const;
  // It is innocent: all its strikes are forgotten.
  void acquit(const PeerId& id);
  // Peers that are banned now, those that are so longest first; without their addresses.
  std::vector<Ban> bans(TimeUs now, std::size_t count_max) const;

  // The address of the attempt if it was given by hand and this is the first time that it is asked
  // for, else empty: for messages that should be said once.
  std::string describe_once(std::uint64_t attempt);

 private:
  struct Entry {
    Address address;
    bool by_hand = false;
    bool from_tracker = false;
    bool busy = false;  // being called or connected
    bool calling = false;
    TimeUs called_at = 0;
    std::string error;
    bool described = false;
    bool tried = false;  // called once at least
    std::uint32_t failures = 0;
    TimeUs due = 0;
    std::uint64_t turn = 0;  // decides between equals
    std::string prefix;      // prefix_of() its host
    std::string source;

    // For standings().
    void note(const std::string& why);
  };
  struct Strikes {
    std::uint32_t count = 0;
    TimeUs until = 0;
    std::string why;  // of the first that led to the ban
  };

  static std::string key_of(const Entry& entry) {
    return (entry.by_hand ? "hand " : "") + entry.address.host + ' ' +
           std::to_string(entry.address.port);
  }
  void add(Entry wanted, TimeUs now);
  std::uint64_t turn_of(const std::string& key) const;
  bool make_room(const Entry& newcomer);
  void insert(const std::string& key, Entry wanted);
  void erase(const std::string& key);
  bool may_be_called(const Entry& entry) const;              // at some time
  bool may_be_called(const Entry& entry, TimeUs now) const;  // nor is it banned
  bool before(const Entry& a, const Entry& b) const;
  TimeUs due_of(const Entry& entry) const;
  void take_up(Entry& entry, bool busy);
  TimeUs earliest() const;
  void retry_later(Entry& entry, TimeUs now);
  std::vector<Entry*> entries_of(const PeerId& id);  // at which the connected peer answers

  PeerId self_;
  std::optional<Address> own_by_hand_;            // the last one given with our id, for standings()
  std::map<std::string, Entry> entries_;          // by host:port
  std::size_t kept_[2] = {};                      // of each origin; those by hand do not count
  std::map<std::string, std::uint32_t> busy_in_;  // entries being called or connected, by prefix
  std::size_t busy_of_[2] = {};                   // and of each origin, those by hand apart
  CallPacing pacing_;
  std::map<std::uint64_t, std::string> attempts_;  // to entries_
  std::map<PeerId, std::set<std::string>> known_;  // connected ids to the entries they answer at
  std::map<PeerId, Strikes> strikes_;
  std::uint64_t next_attempt_ = 1;
  TimeUs quiet_until_ = 0;  // no entry is due before
};

}  // namespace firn::core
