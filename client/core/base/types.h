// Small types of the swarm core, and what its driver gives it at the start.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proto/base/address.h"
#include "proto/base/ids.h"

namespace firn::core {

// Monotonic time in microseconds from an arbitrary start: the clock's in the peer, virtual in
// simulation. The core knows no other clock.
using TimeUs = std::int64_t;
inline constexpr TimeUs kMillisecond = 1000;
inline constexpr TimeUs kSecond = 1'000'000;
inline constexpr TimeUs kNever = INT64_MAX;

// Names one connection to a neighbour while it lasts. Chosen by the driver, never reused.
using PeerKey = std::uint64_t;
inline constexpr PeerKey kNoPeer = 0;

class RateBudget;  // rate_budget.h

// What is known of a row besides its vector. The sender of a row answers for it unless it said
// otherwise; that makes it guilty of a false one, but proves nothing.
enum class Standing : std::uint8_t {
  kUnanswered,  // its sender said that it does not answer for it, or nothing is known
  kAnswered,
  kProven,  // it came from the authority, or was judged right
};

// How long a complete peer stays.
struct SeedPolicy {
  enum class Kind {
    kWhileNeeded,  // while connected neighbours still need something, `duration` at most
    kNone,         // go at once
    kForever,
    kRatio,  // until blocks sent / blocks that this peer wants reaches `ratio`
    kDuration,
    kWhenSafe,  // until the neighbours hold what they want between them (departure.h); for sources
    kReceived,  // until `receivers` neighbours have had everything, and one of each of `awaited`
    kIdle,      // until no block has gone out for `duration`
  };
  Kind kind = Kind::kWhileNeeded;
  double ratio = 0;
  TimeUs duration = 30 * kSecond;
  std::uint32_t receivers = 0;
  std::vector<std::set<std::string>> awaited = {};  // each the IP addresses of one host
};

// What is known of this host's link beside what each content sees of its own traffic. The driver
// owns it, keeps it up to date and hands it to each content's core (Options). One thread.
struct LinkFacts {
  // Factor on what may be in flight: 1 if this host's link is the bottleneck, more if the
  // receivers' links are (proto/transport/queue_trial.h).
  std::uint32_t times_on_way = 1;
  // This machine has an address in a private range (proto/base/address_kind.h).
  bool in_private_range = true;
};

// An upload limit, bytes a second: no block and no part of a manifest goes out.
constexpr std::uint64_t kNoUpload = 1;

struct Options {
  std::uint64_t seed = 1;  // of every random choice this peer makes
  PeerId self;
  std::uint16_t listen_port = 0;  // told to others; 0: we accept no connections
  std::string agent;
  std::vector<Address> trackers;
  std::vector<Address> peers;          // given by hand
  std::optional<PublicKey> publisher;  // must have signed a manifest from the network
  bool peer_exchange = true;
  std::uint32_t neighbours_wanted = 0;  // call up to this number; 0: as the policy says
  std::uint32_t neighbours_max = 0;     // never more than this; 0: as the policy says
  bool dense = false;                   // never send systematic blocks
  std::uint32_t mixture_rows = 0;       // at most, in what it recodes; 0: as the policy says
  std::uint64_t up_limit = 0;           // of this content, bytes per second; 0: none
  std::uint64_t down_limit = 0;
  const LinkFacts* link = nullptr;  // of all contents; outlives the core
  RateBudget* up_budget = nullptr;  // that it shares with other contents; outlives the core
  RateBudget* down_budget = nullptr;
  // Random, from the driver, known to nobody else: keys of check sums are drawn from it
  // (peer_checks.h).
  std::array<std::uint8_t, 32> key_secret{};
  std::string certificate;         // shown in Hello: this peer speaks for the authority; or empty
  bool certificate_waits = false;  // until the download is complete
  std::uint64_t memory_bytes = 128u << 20;  // for rows that wait for the disk or a decode
  SeedPolicy seeding;
};

// A row that an earlier run left in its slot.
struct ResumedRow {
  std::uint32_t generation = 0;
  std::uint32_t slot = 0;
  std::vector<std::uint8_t> vector;
  PeerId sender;
  Standing standing = Standing::kUnanswered;
};

// Generations that a user reads now, and how soon (proto::Urgency). kUrgentMax at most: more cost
// memory at each neighbour, and time in each choice.
using Urgent = std::map<std::uint32_t, std::uint32_t>;
inline constexpr std::size_t kUrgentMax = 8;

// What an earlier run left of a content, as the store tells.
struct StartState {
  std::vector<bool> verified;     // per generation
  std::vector<ResumedRow> rows;   // slots of one generation need not be consecutive or innovative
  std::string certificate = {};   // as in Options, where it was not known yet; or empty
  std::vector<bool> wanted = {};  // per generation (SwarmCore::want); empty: all
};

}  // namespace firn::core
