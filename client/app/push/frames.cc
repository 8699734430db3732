#include "client/app/push/frames.h"

namespace firn::app {
namespace {

constexpr std::size_t kHeadBytes = 5;

}  // namespace

std::string push_frame(PushFrameKind kind, std::string_view payload) {
  FIRN_CHECK(payload.size() <= kFramePayloadMax);
  std::string bytes(1, static_cast<char>(kind));
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(payload.size() >> shift & 0xff);
  return bytes.append(payload);
}

Result<std::optional<PushFrame>> PushFrameReader::next() {
  const std::string_view rest = std::string_view(bytes_).substr(taken_);
  if (rest.size() >= kHeadBytes) {
    const auto kind = static_cast<std::uint8_t>(rest[0]);
    std::size_t length = 0;
    for (std::size_t i = 1; i < kHeadBytes; ++i)
      length = length << 8 | static_cast<std::uint8_t>(rest[i]);
    if (kind < 1 || kind > 3 || length > kFramePayloadMax)
      return Error{ErrorCode::kProtocol, "read what the other side sends", "it is no frame"};
    if (rest.size() - kHeadBytes >= length) {
      taken_ += kHeadBytes + length;
      return std::optional(PushFrame{static_cast<PushFrameKind>(kind),
                                     std::string(rest.substr(kHeadBytes, length))});
    }
  }
  bytes_.erase(0, taken_);
  taken_ = 0;
  return std::optional<PushFrame>();
}

}  // namespace firn::app
