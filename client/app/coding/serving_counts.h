// What it took to serve a content: blocks that were made, and generations that were read and
// compared with their digests. Beside the blocks that were sent (core::Report) it shows work that
// was for nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace firn::app {

// Any thread.
class ServingCounts {
 public:
  struct Figures {
    std::uint64_t encoded = 0;      // coded blocks made of source blocks, for a stock or not
    std::uint64_t recoded = 0;      // blocks made of other coded blocks
    std::uint64_t stocked = 0;      // of those encoded: made for a stock
    std::uint64_t thrown_away = 0;  // of those stocked: their stock made way for another
    std::uint64_t generations_read = 0;
    std::uint64_t generations_read_again = 0;  // of these: not for the first time
  };

  void encoded(std::uint64_t blocks) { encoded_ += blocks; }
  void recoded(std::uint64_t blocks) { recoded_ += blocks; }
  // These count as encoded as well.
  void stocked(std::uint64_t blocks) {
    encoded_ += blocks;
    stocked_ += blocks;
  }
  void thrown_away(std::uint64_t blocks) { thrown_away_ += blocks; }
  void read(std::uint32_t generation);

  Figures figures() const;

 private:
  std::atomic<std::uint64_t> encoded_ = 0, recoded_ = 0, stocked_ = 0, thrown_away_ = 0;
  mutable std::mutex mutex_;
  std::vector<bool> read_before_;  // by generation, up to the highest that was read
  std::uint64_t reads_ = 0, reads_again_ = 0;
};

}  // namespace firn::app
