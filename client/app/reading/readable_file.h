// One file of a content, read in any order while it comes; what is read has been verified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/base/result.h"

namespace firn::app {

// One thread at a time, any thread. Made by ContentReading::open().
class ReadableFile {
 public:
  // Nothing is urgent for this reader any more. `ready` is not called afterwards.
  virtual ~ReadableFile() = default;

  virtual std::uint64_t bytes() const = 0;

  // Copies what is there from `offset` on, perhaps less than fits into `out`, and moves the reading
  // position behind it. 0: it has not come yet, so that the position is at `offset`, or that is the
  // end. After a 0 that is not the end `ready` is called, by another thread, once it may have come
  // or reading has failed; sometimes for nothing. Blocks on the disk, never on the swarm or on the
  // main thread.
  //
  // Errors: kCancelled (the content was paused, removed, or has ended), kNotFound (the file is not
  // chosen any more, or gone from the disk), kCorrupt (changed on the disk), kIo and others of the
  // disk. What is changed or gone is an error only if it is not fetched again.
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::uint8_t> out) = 0;
};

}  // namespace firn::app
