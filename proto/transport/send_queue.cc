#include "proto/transport/send_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "proto/base/stage_times.h"

namespace firn::proto::transport {

void SendQueue::push(OutgoingFrame frame) {
  if (frame.bytes() == 0) return;
  bytes_ += frame.bytes();
  frames_.push_back(std::move(frame));
}

// What of the first frame lies in one piece: the rest of its head, or of its payload.
std::span<const std::uint8_t> SendQueue::front_piece() const {
  const OutgoingFrame& frame = frames_.front();
  if (offset_ < frame.head.size()) {
    const auto* head = reinterpret_cast<const std::uint8_t*>(frame.head.data());
    return {head + offset_, frame.head.size() - offset_};
  }
  return frame.payload.bytes().subspan(offset_ - frame.head.size());
}

void SendQueue::advance(std::size_t bytes) {
  offset_ += bytes;
  if (offset_ == frames_.front().bytes()) {
    frames_.pop_front();
    offset_ = 0;
  }
}

std::span<const std::uint8_t> SendQueue::record() {
  if (!record_.empty() || frames_.empty()) return record_;
  if (const auto piece = front_piece(); piece.size() >= kTlsRecordBytes) {
    record_is_staged_ = false;
    return record_ = piece.first(kTlsRecordBytes);
  }
  const StageScope stage(Stage::kCopies);
  if (!staging_) staging_ = std::make_unique<std::array<std::uint8_t, kTlsRecordBytes>>();
  std::size_t staged = 0;
  while (staged < staging_->size() && !frames_.empty()) {
    const auto piece = front_piece();
    const std::size_t taken = std::min(piece.size(), staging_->size() - staged);
    std::memcpy(staging_->data() + staged, piece.data(), taken);
    staged += taken;
    advance(taken);
  }
  record_is_staged_ = true;
  return record_ = std::span<const std::uint8_t>(*staging_).first(staged);
}

void SendQueue::consume(std::size_t bytes) {
  FIRN_CHECK(bytes <= record_.size());
  record_ = record_.subspan(bytes);
  bytes_ -= bytes;
  if (!record_is_staged_) advance(bytes);
}

}  // namespace firn::proto::transport
