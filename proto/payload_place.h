// Where the payload lies in a frame that is still coming, so that its bytes can be received where
// they are to stay. It is known as soon as all fields before it are there: serialize() puts it
// last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/messages.h"

namespace firn::proto {

struct PayloadPlace {
  enum class Outcome {
    kNone,   // the frame has none, or fields behind it: it is parsed as a whole
    kLater,  // more of the frame is needed
    kFound,
  };
  Outcome outcome = Outcome::kNone;
  std::size_t fields_begin = 0;  // of the Block that it belongs to, within the frame
  std::size_t fields_end = 0;
  std::size_t begin = 0;  // of the payload, which ends with the frame
};

// `head`: what has come of a frame of `frame_bytes` (without its length prefix). The payload is not
// empty where one is found. Any thread.
PayloadPlace find_payload(std::span<const std::uint8_t> head, std::size_t frame_bytes);
using FindPayload = PayloadPlace (*)(std::span<const std::uint8_t> head, std::size_t frame_bytes);

// As parse_peer_message(frame), of a frame whose payload has come apart from what is before it:
// nothing is copied. Errors: kProtocol, as of the whole frame.
Result<PeerMessage> parse_peer_message(std::span<const std::uint8_t> head, Payload payload);

}  // namespace firn::proto
