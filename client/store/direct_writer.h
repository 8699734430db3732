// Writes whole pages of an open file past the page cache (O_DIRECT).
//
// The kernel keeps both ways in step, but for one case: pages that are read ahead while they are
// written past the cache, in one large folio with a page that is dirty, stay as they were, and the
// next sync fails. So the descriptors that write read nothing ahead (advise()), and what shares a
// page with other ranges goes through the cache. Another program that reads the file ahead while it
// comes may still bring that about: the store then takes what it cannot trust anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
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

  struct Outcome {
    enum Kind {
      kWritten,
      kFailed,   // of `error`, an errno
      kNotNow,   // no descriptor or memory is left for it
      kRefused,  // files of this folder cannot be written so
    } kind = kWritten;
    int error = 0;
  };
  // But for kWritten any part of the data may have been written.
  Outcome write(int file, std::uint64_t offset, std::span<const std::uint8_t> data);

 private:
  Outcome::Kind open(int file);

  std::mutex mutex_;
  Descriptor descriptor_;  // the file's, a second time
};

}  // namespace firn::store
