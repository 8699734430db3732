#include <cstring>

#include "proto/base/stage_times.h"
#include "proto/idle_payloads.h"
#include "proto/messages.h"

namespace firn::proto {
namespace {

// Never destroyed: payloads may be given back until the process ends.
IdlePayloads& idle_payloads() {
  static IdlePayloads& pool = *new IdlePayloads;
  return pool;
}

}  // namespace

Payload Payload::allocate(std::size_t bytes) {
  Payload payload;
  if (bytes == 0) return payload;
  const StageScope stage(Stage::kMemory);
  payload.data_ =
      std::shared_ptr<std::uint8_t[]>(idle_payloads().take(bytes), [bytes](std::uint8_t* data) {
        const StageScope giving_back(Stage::kMemory);
        idle_payloads().give_back(data, bytes);
      });
  payload.size_ = bytes;
  return payload;
}

Payload Payload::copy_of(std::span<const std::uint8_t> bytes) {
  Payload payload = allocate(bytes.size());
  const StageScope stage(Stage::kCopies);
  if (!bytes.empty()) std::memcpy(payload.data_.get(), bytes.data(), bytes.size());
  return payload;
}

bool Payload::operator==(const Payload& other) const {
  return size_ == other.size_ && (size_ == 0 || data_ == other.data_ ||
                                  std::memcmp(data_.get(), other.data_.get(), size_) == 0);
}

}  // namespace firn::proto
