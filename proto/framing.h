// Frames on a byte stream: a 4-byte big-endian length L (1 <= L <= limits::kFrameBytesMax), then L
// bytes, one protobuf message.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/base/limits.h"
#include "proto/base/result.h"

namespace firn::proto {

inline constexpr std::size_t kFramePrefixBytes = 4;

// Cuts a stream into frames. Feed it whatever arrived; the stream may be cut anywhere. One thread.
// Memory: at most about two frames of the largest size plus one read, and never more than twice
// what has really arrived (a lying length costs the liar, not us).
class FrameReader {
 public:
  // The first frame may have no more bytes than this.
  void limit_first(std::size_t frame_bytes_max) { first_max_ = frame_bytes_max; }

  // Gives the buffer back if nothing is in it: for a stream that is to be quiet now.
  void release();

  // Where the next read may put at least `minimum` bytes; follow with commit(bytes read).
  std::span<std::uint8_t> prepare(std::size_t minimum);
  void commit(std::size_t bytes);

  // The next whole frame, a view valid until the next call of any member; nullopt when more bytes
  // are needed. kProtocol if the stream is not frames; it stays broken then.
  Result<std::optional<std::span<const std::uint8_t>>> next();

 private:
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t last_frame_bytes_ = 0;
  std::size_t first_max_ = limits::kFrameBytesMax;
};

}  // namespace firn::proto
