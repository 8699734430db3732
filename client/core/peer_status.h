// A neighbour as a table for people shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/types.h"

namespace firn::core {

class Neighbour;

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
};

// `rows`: of the whole content, 0 where it is not known. `complete`: this peer lacks nothing.
PeerStatus status_of(const Neighbour& n, std::uint64_t rows, bool complete, bool stuck, TimeUs now);

}  // namespace firn::core
