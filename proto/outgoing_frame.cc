#include "proto/outgoing_frame.h"

#include "proto/base/limits.h"
#include "proto/framing.h"

namespace firn::proto {

void write_frame_prefix(std::uint8_t* out, std::size_t bytes) {
  FIRN_CHECK(bytes >= 1 && bytes <= limits::kFrameBytesMax);
  for (std::size_t i = 0; i < kFramePrefixBytes; ++i)
    out[i] = static_cast<std::uint8_t>(bytes >> (8 * (kFramePrefixBytes - 1 - i)));
}

OutgoingFrame frame_of(const google::protobuf::MessageLite& message) {
  const std::size_t bytes = message.ByteSizeLong();
  OutgoingFrame frame;
  frame.head.resize(kFramePrefixBytes + bytes);
  auto* const out = reinterpret_cast<std::uint8_t*>(frame.head.data());
  write_frame_prefix(out, bytes);
  message.SerializeWithCachedSizesToArray(out + kFramePrefixBytes);
  return frame;
}

}  // namespace firn::proto
