// Frames on a byte stream: a 4-byte big-endian length L (1 <= L <= limits::kFrameBytesMax), then L
// bytes, one protobuf message.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/base/limits.h"
#include "proto/base/result.h"
#include "proto/messages.h"
#include "proto/payload_place.h"

namespace firn::proto {

inline constexpr std::size_t kFramePrefixBytes = 4;

// Cuts a stream into frames. Feed it whatever arrived; the stream may be cut anywhere. One thread.
// Memory: at most about two frames of the largest size plus one read, and never more than twice
// what has really arrived (a lying length costs the liar, not us). A payload that is received in
// place takes its memory before it comes, if it is no longer than kPayloadTrusted or than one that
// has come.
//
// The bytes of a payload in place are written once, by the caller that fills prepare()'s space. For
// that the space is that of the payload alone, and before it that of a head of usual length: a
// little of the payload comes with the head, and is copied.
class FrameReader {
 public:
  static constexpr std::size_t kPayloadTrusted = 16 << 10;

  FrameReader() = default;
  // Payloads that `find` finds are received in place. Null: frames are not looked into.
  explicit FrameReader(FindPayload find) : find_(find) {}

  // The first frame may have no more bytes than this.
  void limit_first(std::size_t frame_bytes_max) { first_max_ = frame_bytes_max; }

  // Gives the buffer back if nothing is in it: for a stream that is to be quiet now.
  void release();

  // Where the next read may put bytes; follow with commit(bytes read). At least `minimum`, but
  // where payloads are received in place: there at least 1, once all whole frames are taken.
  std::span<std::uint8_t> prepare(std::size_t minimum);
  void commit(std::size_t bytes);

  struct Frame {
    std::span<const std::uint8_t> head;  // a view valid until the next call of any member
    Payload payload;                     // what follows it, received in place; else empty
  };
  // The next whole frame; nullopt when more bytes are needed. kProtocol if the stream is not
  // frames; it stays broken then.
  Result<std::optional<Frame>> next_frame();
  // The same where nothing is received in place.
  Result<std::optional<std::span<const std::uint8_t>>> next();

 private:
  std::size_t frame_length() const;
  void look_for_payload(std::size_t length);
  Frame take_frame(std::size_t head_bytes);

  FindPayload find_ = nullptr;
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t last_frame_bytes_ = 0;
  std::size_t first_max_ = limits::kFrameBytesMax;

  // The payload of the frame at begin_, of which payload_come_ bytes are there; the buffer then
  // ends with its head.
  Payload payload_;
  std::size_t payload_come_ = 0;
  std::size_t payload_trusted_ = kPayloadTrusted;
  std::size_t payload_promised_ = 0;  // in the frame at begin_, longer than is trusted
  bool no_payload_ = false;           // in the frame at begin_
  std::size_t head_usual_ = 0;        // bytes before the last payload; 0: none came
  std::size_t frames_without_ = 0;    // since the last frame with one
};

}  // namespace firn::proto
