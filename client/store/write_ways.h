// Which way large writes into a folder's files take: through the page cache, or past it (O_DIRECT).
// Past it nothing is copied, and no page has to be found and cleared: half of the processor time of
// a downloader on a fast disk (docs/lab/072). A slow disk, or one that its file system lets no
// program pass by, is better written through the cache. What a disk is cannot be asked (virtual
// ones call themselves rotating), so both ways are tried, and the one that takes less time is
// taken. While that is the cache the other is tried now and then; past it the way is left when it
// takes longer than the cache did, so that the ways are mixed as little as may be.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace firn::store {

// Smaller ones go through the cache, and those that are not whole pages (direct_access.h).
inline constexpr std::size_t kLargeWrite = 256 << 10;

// Any thread.
class WriteWays {
 public:
  enum class Way { kCached, kDirect };
  static constexpr std::uint64_t kTries = 4;      // of each way at first
  static constexpr std::uint64_t kTryOther = 64;  // then one in so many past the cache
  static constexpr double kDirectMayTake = 2;     // times as long: it takes time, not a processor

  Way next();
  void took(Way way, std::size_t bytes, std::chrono::nanoseconds time);
  // After the first tries: writes go past the cache, so what is not in it is read past it too.
  bool prefers_direct() const;
  // The file system refuses.
  void no_direct();

 private:
  bool direct_pays() const;  // with mutex_ held

  struct Cost {
    std::uint64_t count = 0;
    double ns_per_byte = 0;  // of late
  };
  mutable std::mutex mutex_;
  bool direct_ = true;  // it can
  std::uint64_t turn_ = 0;
  Cost cached_cost_, direct_cost_;
};

}  // namespace firn::store
