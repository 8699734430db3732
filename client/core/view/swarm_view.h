// A snapshot of a content for the page: its generations, its neighbours, and the peers that this
// one has banned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/core/base/types.h"
#include "client/core/base/why_not.h"
#include "client/core/rows/generation_set.h"

namespace firn::core {

struct Parts;  // parts.h

// A neighbour as a table for people shows it.
struct PeerStatus {
  enum class State {
    kGreeting,  // its Hello has not come
    kWaiting,   // it has not said what it holds
    kStuck,     // its socket takes nothing of what is queued
    kBoth,      // blocks go both ways
    kReceives,  // blocks go to it
    kSends,     // blocks come from it
    kSilent,    // it may send, has what we lack, and does not
    kIdle,      // nothing to send either way
  };
  PeerId id;
  std::string endpoint;  // ip:port as connected
  std::string agent;     // as it says itself, in whatever bytes; empty: its Hello has not come
  bool outgoing = false;
  bool authority = false;  // it speaks for the content's authority
  double held = 0;         // part of all rows that it holds, 0 to 1
  std::uint64_t rank = 0;  // over all generations
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  double down_rate = 0;  // bytes a second, over the last seconds
  double up_rate = 0;
  std::uint64_t blocks_received = 0;
  std::uint64_t blocks_innovative = 0;
  std::uint64_t blocks_sent = 0;
  TimeUs connected_for = 0;
  TimeUs silent_for = 0;  // since anything has come from it
  State state = State::kGreeting;
  // Why no blocks go to it, and why none come from it, as far as that is known; nullopt: they do,
  // or nothing stands against it.
  std::optional<WhyNot> not_sent, not_received;
};

// A generation of which some rows are held.
struct FillingGeneration {
  enum class State {
    kFilling,
    kInFlight,     // one of its senders owes blocks
    kStalled,      // nothing has come for kStalledTime
    kQuarantined,  // it decoded to false data, and is fetched block by block; or rows of it wait to
                   // be proven for longer than kCheckTimeout, where only proven ones are mixed
    kDecoding,
  };
  static constexpr TimeUs kStalledTime = 10 * kSecond;

  struct Sender {
    PeerId id;
    std::uint32_t rows = 0;
  };
  std::uint32_t number = 0;
  std::uint32_t rank = 0;
  std::uint32_t blocks = 0;  // that it needs
  std::uint32_t proven = 0;  // of its rows
  State state = State::kFilling;
  TimeUs still_for = 0;  // since its rank has grown
  std::vector<Sender> senders;
};

struct Ban {
  PeerId id;
  std::string ip;  // empty: not known any more
  std::uint32_t strikes = 0;
  TimeUs left = 0;
  std::string why;
};

struct SwarmView {
  static constexpr std::size_t kBansMax = 256;

  std::vector<PeerStatus> peers;  // in the order in which they came
  std::vector<Ban> bans;          // those that last longest, kBansMax at most
  // Of no generations before the shape is known.
  std::uint32_t generation_size = 0;  // n; the last generation may have fewer
  std::uint32_t last_blocks = 0;      // of the last generation
  GenerationSet verified = GenerationSet(0);
  GenerationSet given_up = GenerationSet(0);  // lost, and not wanted any more
  std::vector<FillingGeneration> filling;     // by number
};

SwarmView view_of(const Parts& parts);
// Its peers alone.
std::vector<PeerStatus> peers_of(const Parts& parts);

}  // namespace firn::core
