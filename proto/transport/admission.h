// Bounds on accepted connections, so that no party can take all places.
//
// A connection is unproven until its first whole frame has come: until then it has cost the other
// side next to nothing. Unproven connections have bounds of their own. When these are reached a
// newcomer takes the place of an old unproven one, and the places are shared among prefixes, within
// a prefix among networks (prefix_of, network_of): the one that holds most gives way. Prefixes are
// never banned, as homes and offices share addresses.
//
// Where all places are taken and no unproven one has had its time, a proven one does that has had
// its time, if these may be exchanged (as where connections do little and are soon made again): of
// the prefix that holds most, if the newcomer's would still hold less; else of the newcomer's own,
// so that peers of one prefix that share few places take turns. It is the longest open of its
// network. So nobody is kept out by connections that say a word now and then, however many a prefix
// has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace firn::proto::transport {

// Any thread. Must outlive its places. No clock of its own: times are milliseconds of any one
// clock.
class Admission {
 public:
  using Id = std::uint64_t;  // of a connection; later ones have higher ids

  // A TLS handshake, and after it a first frame, may take this long where others wait, and a proven
  // connection is left this long.
  static constexpr std::uint64_t kProofMs = 2000;

  struct Limits {
    std::size_t of_network;  // connections
    std::size_t unproven_of_network;
    std::size_t unproven;  // in all
    bool exchanges_proven = false;
  };
  // A network gets a quarter of all places and a sixteenth of them for unproven connections,
  // unproven ones half of all; at least 16 each, so that small limits stay usable.
  static Limits limits_for(std::size_t connection_count_max, bool exchanges_proven);

  explicit Admission(const Limits& limits) : limits_(limits) {}

  // The place of one connection, given back when it is destroyed.
  class Place {
   public:
    Place(Place&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), id_(other.id_), proven_(other.proven_) {}
    Place& operator=(Place&&) = delete;
    ~Place();
    // The TLS handshake is done.
    void opened(std::uint64_t now_ms);
    // A whole frame has come.
    void proven();

   private:
    friend Admission;
    Place(Admission& owner, Id id) : owner_(&owner), id_(id) {}
    Admission* owner_;
    Id id_;
    bool proven_ = false;
  };

  struct Answer {
    std::optional<Place> place;   // empty: turn the newcomer away
    std::optional<Id> gives_way;  // this connection has lost its place, and is to be closed
  };
  // A connection from `ip`. `full`: there are places only in exchange.
  Answer enter(const std::string& ip, Id id, bool full, std::uint64_t now_ms);
  // Though all places are taken enter() may find one: some connection has had its time that is
  // unproven, or of a prefix that holds several.
  bool may_exchange(std::uint64_t now_ms) const;

 private:
  static constexpr std::size_t kMostLooked = 8;

  // Connections by the time at which their time began, oldest first.
  using Waiting = std::set<std::pair<std::uint64_t, Id>>;
  struct Network {
    std::size_t connections = 0;
    Waiting unproven, proven;
  };
  struct Prefix {
    std::size_t connections = 0;
    Waiting unproven;
    std::map<std::string, Network> networks;
  };
  struct Held {
    std::string prefix, network;
    std::uint64_t since_ms;
  };
  const Network* find(const std::string& prefix, const std::string& network) const;
  const Network& largest(const Held& newcomer, bool& larger) const;
  static std::optional<Id> oldest(const Waiting& waiting, bool of_any_age, std::uint64_t now_ms);
  std::optional<Id> unproven_for(const Held& newcomer, bool of_any_age) const;
  std::optional<Id> proven_for(const Held& newcomer) const;
  std::optional<Id> proven_of_most(std::size_t above, const std::string& except,
                                   std::uint64_t now_ms) const;
  static const Network& most_proven(const Prefix& prefix);
  void count(const std::string& prefix, int change);
  void wait(Id id, const Held& held);
  bool stop_waiting(Id id, const Held& held);
  void restart(Id id, std::uint64_t now_ms);
  void prove(Id id);
  void leave(Id id);
  void erase(Id id);

  const Limits limits_;
  mutable std::mutex mutex_;  // guards what follows
  std::unordered_map<std::string, Prefix> prefixes_;
  std::set<std::pair<std::size_t, std::string>> by_connections_;  // the same
  std::unordered_map<Id, Held> held_;
  std::size_t unproven_ = 0;
};

}  // namespace firn::proto::transport
