// The SHA-256 of every file, from a content's generations as several threads read them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>

#include "proto/base/digest.h"
#include "proto/content/manifest.h"

namespace firn::content {

// A file's bytes are hashed in their order, so a generation that continues a file waits for the one
// before it. Different files are hashed at the same time.
class FileHashes {
 public:
  // Puts the digests into `info`, whose files are laid out; kept by reference.
  explicit FileHashes(Info& info);

  // The bytes of a generation, without padding. Each generation once, any thread; those below it
  // must have been begun by others. Blocks until the bytes before it have been added; false if
  // abandon() was called instead.
  bool add(std::uint32_t generation, std::span<const std::uint8_t> data);

  // Some generation will not come: ends all waiting.
  void abandon();

 private:
  bool take_over(std::uint32_t generation, Sha256& hasher);
  void hand_on(std::uint32_t generation, Sha256 hasher);

  Info& info_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint32_t, Sha256> begun_;  // by the generation in which the file goes on
  bool abandoned_ = false;
};

}  // namespace firn::content
