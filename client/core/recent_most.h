// The highest of the values that were seen in the last minute or two.
#pragma once

#include <algorithm>
#include <cstddef>

#include "client/core/types.h"

namespace firn::core {

class RecentMost {
 public:
  static constexpr TimeUs kWindow = 60 * kSecond;

  void see(std::size_t value, TimeUs now) {
    if (now >= begin_ + kWindow) {
      before_ = now < begin_ + 2 * kWindow ? most_ : 0;
      most_ = 0;
      begin_ = now;
    }
    most_ = std::max(most_, value);
  }
  // 0: none was.
  std::size_t get(TimeUs now) const {
    if (now >= begin_ + 2 * kWindow) return 0;
    return now >= begin_ + kWindow ? most_ : std::max(most_, before_);
  }

 private:
  TimeUs begin_ = 0;  // of the present window
  std::size_t most_ = 0, before_ = 0;
};

}  // namespace firn::core
