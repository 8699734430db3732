// Which of a connection's tagged frames have not left yet. The transport's user is told of each
// once, in the order in which they were sent; of frames without a tag it is not told.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proto/transport/lazy_deque.h"
#include "proto/transport/transport.h"

namespace firn::proto::transport {

// One thread.
class Departures {
 public:
  // A frame was put behind all others.
  void add(std::size_t frame_bytes, FrameTag tag);

  // Of all bytes that were added the last `unsent_bytes` have not left. Returns the next tagged
  // frame that has left in whole and was not returned before; kUntagged: none.
  FrameTag next(std::size_t unsent_bytes);
  bool awaits_any() const { return !awaited_.empty(); }

 private:
  struct Awaited {
    std::uint64_t end;  // of the frame, counted from the connection's first byte
    FrameTag tag;
  };
  std::uint64_t added_bytes_ = 0;
  LazyDeque<Awaited> awaited_;
};

}  // namespace firn::proto::transport
