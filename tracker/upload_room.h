// Room for manifests that are half sent, of all shards together. Each shard has a part of its own,
// which the others cannot take; what it takes beyond comes from a rest that they share and that
// holds the largest manifest. So that one fits whatever the number of shards, and all together
// never take more than the room.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace firn::tracker {

// Any thread.
class UploadRoom {
 public:
  // Where parts without a rest hold the largest manifest, there is none but for the division's.
  UploadRoom(std::uint64_t bytes, std::size_t shards, std::uint64_t largest)
      : part_(bytes / shards >= largest ? bytes / shards
                                        : (bytes - std::min(bytes, largest)) / shards),
        rest_(bytes - part_ * shards) {}

  std::uint64_t part() const { return part_; }
  // Of the rest. False: there is less.
  bool take(std::uint64_t bytes) {
    std::uint64_t rest = rest_.load();
    do {
      if (rest < bytes) return false;
    } while (!rest_.compare_exchange_weak(rest, rest - bytes));
    return true;
  }
  void give_back(std::uint64_t bytes) { rest_.fetch_add(bytes); }

 private:
  const std::uint64_t part_;
  std::atomic<std::uint64_t> rest_;
};

// What one shard takes. One thread.
class UploadShare {
 public:
  explicit UploadShare(std::shared_ptr<UploadRoom> room) : room_(std::move(room)) {}

  std::uint64_t bytes() const { return bytes_; }
  bool take(std::uint64_t bytes) {
    if (!room_->take(beyond_part(bytes_ + bytes) - beyond_part(bytes_))) return false;
    bytes_ += bytes;
    return true;
  }
  void give_back(std::uint64_t bytes) {
    room_->give_back(beyond_part(bytes_) - beyond_part(bytes_ - bytes));
    bytes_ -= bytes;
  }

 private:
  std::uint64_t beyond_part(std::uint64_t bytes) const {
    return bytes - std::min(bytes, room_->part());
  }

  const std::shared_ptr<UploadRoom> room_;
  std::uint64_t bytes_ = 0;
};

}  // namespace firn::tracker
