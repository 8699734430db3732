#include "proto/framing.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "proto/base/stage_times.h"

namespace firn::proto {
namespace {

// An empty buffer larger than this, and than the frames now passing need, is given back.
constexpr std::size_t kKeptBytes = 256 << 10;
// Heads differ by a few bytes: numbers grow, and a State may come with the payload.
constexpr std::size_t kHeadSlack = 16;
// After as many frames in a row without payload the next is not expected to have one.
constexpr std::size_t kFramesBetween = 8;

}  // namespace

std::span<std::uint8_t> FrameReader::prepare(std::size_t minimum) {
  if (payload_) return payload_.writable().subspan(payload_come_);
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (buffer_.size() > std::max(kKeptBytes, 4 * last_frame_bytes_)) {
      buffer_.clear();
      buffer_.shrink_to_fit();
    }
  }
  if (buffer_.size() - end_ < minimum && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // Twice what has arrived, so that a large frame is not copied at every read; never what a length
  // prefix merely promises.
  if (buffer_.size() - end_ < minimum) buffer_.resize(end_ + std::max(end_, minimum));
  const auto space = std::span(buffer_).subspan(end_);
  const bool head_alone = head_usual_ > 0 && !no_payload_ && frames_without_ < kFramesBetween;
  return head_alone ? space.first(std::min(space.size(), head_usual_ + kHeadSlack)) : space;
}

void FrameReader::release() {
  if (begin_ != end_) return;
  begin_ = end_ = 0;
  std::vector<std::uint8_t>().swap(buffer_);  // an assignment would keep the memory
}

void FrameReader::commit(std::size_t bytes) {
  if (payload_) {
    FIRN_CHECK(bytes <= payload_.size() - payload_come_);
    payload_come_ += bytes;
  } else {
    FIRN_CHECK(bytes <= buffer_.size() - end_);
    end_ += bytes;
  }
}

std::size_t FrameReader::frame_length() const {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kFramePrefixBytes; ++i) length = length << 8 | buffer_[begin_ + i];
  return length;
}

Result<std::optional<FrameReader::Frame>> FrameReader::next_frame() {
  using Next = std::optional<Frame>;
  if (end_ - begin_ < kFramePrefixBytes) return Next();
  const std::size_t length = frame_length();
  const std::size_t most = last_frame_bytes_ == 0 ? first_max_ : limits::kFrameBytesMax;
  if (length == 0 || length > most)
    // The bad prefix stays in front: every later call fails as well.
    return Error{ErrorCode::kProtocol, "read a frame",
                 "a length of " + std::to_string(length) + " bytes; 1 to " + std::to_string(most) +
                     " are allowed"};
  const std::size_t come = end_ - begin_ - kFramePrefixBytes;
  if (!payload_ && come < length) look_for_payload(length);
  if (payload_) {
    if (payload_come_ < payload_.size()) return Next();
    return Next(take_frame(length - payload_.size()));
  }
  if (come < length) return Next();
  return Next(take_frame(length));
}

FrameReader::Frame FrameReader::take_frame(std::size_t head_bytes) {
  const auto head = std::span(buffer_).subspan(begin_ + kFramePrefixBytes, head_bytes);
  begin_ += kFramePrefixBytes + head_bytes;
  last_frame_bytes_ = std::max<std::size_t>(head_bytes, 1);  // of what was in the buffer
  no_payload_ = false;
  payload_come_ = 0;
  payload_trusted_ = std::max(payload_trusted_, std::exchange(payload_promised_, 0));
  frames_without_ = payload_ ? 0 : frames_without_ + 1;
  return {head, std::exchange(payload_, {})};
}

// Of the frame at begin_, which has not come in whole.
void FrameReader::look_for_payload(std::size_t length) {
  if (find_ == nullptr || no_payload_) return;
  const auto come = std::span<const std::uint8_t>(buffer_).subspan(
      begin_ + kFramePrefixBytes, end_ - begin_ - kFramePrefixBytes);
  const PayloadPlace place = find_(come, length);
  if (place.outcome == PayloadPlace::Outcome::kLater) return;
  const std::size_t bytes = length - place.begin;
  no_payload_ = place.outcome == PayloadPlace::Outcome::kNone || bytes > payload_trusted_;
  if (place.outcome != PayloadPlace::Outcome::kFound) return;
  head_usual_ = kFramePrefixBytes + place.begin;
  if (no_payload_) {  // it comes as a part of its frame; when it has, it was no lie
    payload_promised_ = bytes;
    return;
  }
  payload_ = Payload::allocate(bytes);
  const StageScope stage(Stage::kCopies);
  payload_come_ = come.size() - place.begin;
  std::memcpy(payload_.writable().data(), come.data() + place.begin, payload_come_);
  end_ -= payload_come_;
}

Result<std::optional<std::span<const std::uint8_t>>> FrameReader::next() {
  using Next = std::optional<std::span<const std::uint8_t>>;
  auto frame = next_frame();
  if (!frame) return frame.error();
  if (!*frame) return Next();
  FIRN_CHECK(!(*frame)->payload);
  return Next((*frame)->head);
}

}  // namespace firn::proto
