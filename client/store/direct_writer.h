// Writes whole pages of an open file past the page cache (O_DIRECT).
//
// The kernel keeps both ways in step, but for one case: pages that are read ahead while they are
// written past the cache, in one large folio with a page that is dirty, may stay as they were. So
// nothing is read ahead of what is being written (advise()), and what shares a page with other
// ranges goes through the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "client/store/posix_file.h"

namespace firn::store {

// Any thread, also at once, for ranges that do not overlap.
class DirectWriter {
 public:
  // For a file that will be written, before it is read.
  static void advise(int file);
  // Whether offset, length and address in memory are whole pages.
  static bool fits(std::uint64_t offset, std::span<const std::uint8_t> data);

  // 0, or the errno of what failed; nullopt: this file cannot be written so, and any part of the
  // data may have been.
  std::optional<int> write(int file, std::uint64_t offset, std::span<const std::uint8_t> data);

 private:
  bool open(int file);

  std::mutex mutex_;
  bool tried_ = false;
  Descriptor descriptor_;  // the file's, a second time
};

}  // namespace firn::store
