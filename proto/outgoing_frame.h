// Frames from generated messages.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstdint>

#include "proto/messages.h"

namespace firn::proto {

// The length prefix for a message of `bytes` bytes, which must be 1..kFrameBytesMax (FIRN_CHECK:
// what we send is bounded by the limits of its fields).
void write_frame_prefix(std::uint8_t* out, std::size_t bytes);

// `message` as one frame without a payload.
OutgoingFrame frame_of(const google::protobuf::MessageLite& message);

}  // namespace firn::proto
