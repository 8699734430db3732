// Writes and reads whole pages of an open file past the page cache (O_DIRECT).
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

// Any thread, also at once. What is being written overlaps nothing else; readings may overlap: the
// background check (client/app/coding) reads what others read for neighbours.
class DirectAccess {
 public:
  // For a file that will be written, before it is read.
  static void advise(int file);
  // Whether offset, length and address in memory are whole pages.
  static bool fits(std::uint64_t offset, std::span<const std::uint8_t> data);

  // Whether half of the range or more lies in the page cache. To read that past it would gain
  // nothing, and what is dirty of it would have to reach the disk first.
  static bool lies_in_cache(int file, std::uint64_t offset, std::size_t bytes);

  struct Outcome {
    enum Kind {
      kDone,
      kFailed,   // of `error`, an errno
      kNotNow,   // no descriptor or memory is left for it
      kRefused,  // files of this folder cannot be used so
    } kind = kDone;
    int error = 0;
  };
  // But for kDone any part of the data may have been written.
  Outcome write(int file, std::uint64_t offset, std::span<const std::uint8_t> data);
  // `done`: bytes that were read. Fewer than asked for: up to the file's end, or up to where the
  // kernel gave less than whole pages, from where only the cache can go on; the rest of `out` may
  // hold anything.
  Outcome read(int file, std::uint64_t offset, std::span<std::uint8_t> out, std::size_t& done);

 private:
  Outcome::Kind open(int file);

  std::mutex mutex_;
  Descriptor descriptor_;  // the file's, a second time
};

}  // namespace firn::store
