// Progress as text: the one-line bar of a terminal, and a plain line for logs.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "client/app/console/arrivals.h"

namespace firn::app {

struct ProgressFigures {
  std::string name;
  std::uint64_t rank = 0;
  std::uint64_t rank_total = 0;
  double down_rate = 0;  // bytes per second
  double up_rate = 0;
  double seconds_left = std::numeric_limits<double>::infinity();  // not finite: unknown
  std::uint32_t peers = 0;
  std::size_t complete_peers = 0;  // that have everything, also those that have left
  bool seeding = false;            // it is complete
  std::uint64_t bytes_wanted = 0;  // of the content, or of what its user chose
  std::uint64_t bytes_sent = 0;    // by this session
  Arrivals arrivals;
  // The host that an ordinary download comes from, which has no peers; empty: of a content. `rank`
  // and `rank_total` are bytes then; rank_total 0: nobody knows.
  std::string host;
  bool with_rank = false;
  std::string damage;  // how much of a complete content cannot be served, and why; empty: nothing

  // Its session is over: nothing moves.
  void rest() {
    down_rate = up_rate = 0;
    peers = 0;
    seconds_left = std::numeric_limits<double>::infinity();
  }
};

// How much of the content is there, 1 only with the last rank; nullopt: not known.
std::optional<double> share_of(const ProgressFigures& figures);

// At most `columns` wide; what matters least is left out first (bar, name, upload rate). Never
// shows 100 % before the last rank.
std::string progress_line(const ProgressFigures& figures, std::size_t columns);

// "holiday: 43.2% of 23.1 MiB, 1.2 MiB/s, ETA 11s, 3 peers".
std::string plain_progress(const ProgressFigures& figures);

}  // namespace firn::app
