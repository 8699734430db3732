// The room for blocks that devices make ahead of demand: one for all contents of a process, each of
// which has a share that grows and shrinks with what it holds.
#pragma once

#include <algorithm>
#include <cstddef>

namespace firn::app {

// Owner thread. Outlives its shares.
class StockRoom {
 public:
  explicit StockRoom(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  StockRoom(const StockRoom&) = delete;
  StockRoom& operator=(const StockRoom&) = delete;

  // What one content holds. At its end it holds nothing.
  class Share {
   public:
    explicit Share(StockRoom& room) : room_(room) {}
    ~Share() { hold(0); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    void hold(std::size_t bytes) {
      room_.held_ += bytes - held_;
      held_ = bytes;
    }
    // Most that it may hold: what the others leave.
    std::size_t bytes_max() const {
      return room_.bytes_max_ - std::min(room_.held_ - held_, room_.bytes_max_);
    }

   private:
    StockRoom& room_;
    std::size_t held_ = 0;
  };

 private:
  const std::size_t bytes_max_;
  std::size_t held_ = 0;  // by all shares
};

}  // namespace firn::app
