#include "proto/framing.h"

#include <algorithm>
#include <cstring>

namespace firn::proto {
namespace {

// An empty buffer larger than this, and than the frames now passing need, is given back.
constexpr std::size_t kKeptBytes = 256 << 10;

}  // namespace

std::span<std::uint8_t> FrameReader::prepare(std::size_t minimum) {
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
  return std::span(buffer_).subspan(end_);
}

void FrameReader::release() {
  if (begin_ != end_) return;
  begin_ = end_ = 0;
  std::vector<std::uint8_t>().swap(buffer_);  // an assignment would keep the memory
}

void FrameReader::commit(std::size_t bytes) {
  FIRN_CHECK(bytes <= buffer_.size() - end_);
  end_ += bytes;
}

Result<std::optional<std::span<const std::uint8_t>>> FrameReader::next() {
  using Frame = std::optional<std::span<const std::uint8_t>>;
  if (end_ - begin_ < kFramePrefixBytes) return Frame();
  std::size_t length = 0;
  for (std::size_t i = 0; i < kFramePrefixBytes; ++i) length = length << 8 | buffer_[begin_ + i];
  const std::size_t most = last_frame_bytes_ == 0 ? first_max_ : limits::kFrameBytesMax;
  if (length == 0 || length > most)
    // The bad prefix stays in front: every later call fails as well.
    return Error{ErrorCode::kProtocol, "read a frame",
                 "a length of " + std::to_string(length) + " bytes; 1 to " + std::to_string(most) +
                     " are allowed"};
  if (end_ - begin_ - kFramePrefixBytes < length) return Frame();
  const std::span frame = std::span(buffer_).subspan(begin_ + kFramePrefixBytes, length);
  begin_ += kFramePrefixBytes + length;
  last_frame_bytes_ = length;
  return Frame(frame);
}

}  // namespace firn::proto
