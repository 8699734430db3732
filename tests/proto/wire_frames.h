// Frames in and out of tests: what serialize() made as one string, and raw protobuf messages as
// the parsers want them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "proto/messages.h"

namespace firn::test {

inline std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline std::string whole(const proto::OutgoingFrame& frame) {
  return frame.head + std::string(reinterpret_cast<const char*>(frame.payload.bytes().data()),
                                  frame.payload.size());
}

// Without its length prefix: what a FrameReader gives.
inline std::string message_in(const proto::OutgoingFrame& frame) {
  return whole(frame).substr(4);
}

}  // namespace firn::test
