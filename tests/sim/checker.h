// Watches one peer of a simulation from outside: what its core hears, what it does, what it
// reports. Keeps its own small model of every connection and notes each rule that is broken.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/core/swarm.h"

namespace firn::sim {

class Disk;

class Checker {
 public:
  using Note = std::function<void(const std::string&)>;

  // `keeps_quota`: the peer's scheduler promises to keep to quotas (all but sources).
  // `memory_bytes`: as its options have it.
  Checker(const Shape& shape, const Disk& disk, bool keeps_quota, std::uint64_t memory_bytes,
          Note note);

  // `understood`: it has the manifest, without which a State means nothing and is told again.
  void heard(core::PeerKey peer, const proto::PeerMessage& message, bool understood);
  void closed(core::PeerKey peer) { lines_.erase(peer); }
  void does(const core::Action& action);
  // The core has been drained; the time it was told last, and when it wants to wake.
  void rested(core::SwarmCore& core, core::TimeUs now, core::TimeUs wake);

  // Rows that StoreRow gave away and row_stored has not yet been called for.
  std::uint64_t rows_waiting = 0;
  std::uint64_t rows_waiting_max = 0;

 private:
  struct Line {
    std::uint32_t credit = 0;                                       // granted to us
    std::uint32_t sequence = 0;                                     // of our last block
    std::deque<std::pair<std::uint32_t, std::uint32_t>> in_flight;  // sequence, generation
    std::map<std::uint32_t, std::uint32_t> quota;
    std::uint32_t granted = 0;  // by us
    std::uint32_t arrived = 0;
  };
  void check(bool right, const char* rule);
  void heard_state(Line& line, const proto::State& state);
  void tells(Line& line, const proto::State& state);
  void sends(const core::SendBlock& send);
  void stores();
  void check_vector(const core::SendBlock& send);
  void check_plain(const core::SendBlock& send);
  std::uint32_t rank(std::uint32_t g) const;

  const Shape shape_;
  const Disk& disk_;
  const bool keeps_quota_;
  const std::uint64_t memory_bytes_;
  Note note_;
  std::map<core::PeerKey, Line> lines_;
  std::size_t lines_max_ = 0;
  std::uint32_t verified_ = 0;
  std::uint32_t rests_ = 0;
  core::TimeUs second_ = 0;
  std::uint32_t rests_in_second_ = 0;
  bool finished_ = false;
};

}  // namespace firn::sim
