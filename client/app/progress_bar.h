// The one-line progress bar of a terminal, as text.
#pragma once

#include <cstdint>
#include <string>

namespace firn::app {

struct ProgressFigures {
  std::string name;
  std::uint64_t rank = 0;
  std::uint64_t rank_total = 0;
  double down_rate = 0;  // bytes per second
  double up_rate = 0;
  double seconds_left = 0;  // not finite: unknown
  std::uint32_t peers = 0;
  bool seeding = false;
};

// At most `columns` wide; what matters least is left out first (bar, name, upload rate). Never
// shows 100 % before the last rank.
std::string progress_line(const ProgressFigures& figures, std::size_t columns);

}  // namespace firn::app
