// What `firn push` and its `firn receive` on a host say to each other through the ssh session, once
// firn runs there. Both directions are a sequence of frames:
//
//   1 byte   kind
//   4 bytes  length of the payload, big-endian; kFramePayloadMax at most
//   payload  kControl: one JSON object (order.h, host_push.h); kTunnel: bytes of the tunnel
//            (tunnel.h); kTunnelEnd: nothing
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/base/result.h"

namespace firn::app {

enum class PushFrameKind : std::uint8_t { kControl = 1, kTunnel = 2, kTunnelEnd = 3 };

struct PushFrame {
  PushFrameKind kind = PushFrameKind::kControl;
  std::string payload;
};

inline constexpr std::size_t kFramePayloadMax = 64 << 10;

// The bytes of a frame. `payload`: kFramePayloadMax bytes at most.
std::string push_frame(PushFrameKind kind, std::string_view payload);

// Cuts what comes into frames. Holds one unfinished frame at most, besides what was fed and not
// taken yet.
class PushFrameReader {
 public:
  void feed(std::string_view bytes) { bytes_ += bytes; }
  // The next frame, if all of it is there. Errors: kProtocol (no such kind, or too long), then and
  // ever after.
  Result<std::optional<PushFrame>> next();

 private:
  std::string bytes_;
  std::size_t taken_ = 0;  // of bytes_
};

}  // namespace firn::app
