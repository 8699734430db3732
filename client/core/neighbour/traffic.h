// What has come from a neighbour and gone to it, counted.
#pragma once

#include <cstdint>

#include "client/core/base/rates.h"
#include "client/core/base/types.h"

namespace firn::core {

// Blocks. Less: chance decides; more: who stops being useful is found late.
inline constexpr double kUsefulMemory = 32;
// A neighbour is judged useless over this many blocks and this long, at least [023].
inline constexpr std::uint32_t kUsefulnessWindow = 256;
inline constexpr TimeUs kUsefulnessTime = 2 * kSecond;

// Whether what a neighbour sends is news. Judged over a while: what was on its way when others
// filled a generation is redundant at once, hundreds of blocks where generations are large and
// links fast.
class Usefulness {
 public:
  void block(bool innovative, TimeUs now) {
    if (blocks_++ == 0) since_ = now;
    if (!innovative) ++redundant_;
    share_ += ((innovative ? 1 : 0) - share_) / kUsefulMemory;
  }
  // The part of its last blocks that was new.
  double share() const { return share_; }
  // Nearly all of it was redundant: the neighbour claims what it does not have, or repeats itself.
  // Once there is enough to judge by, the count begins anew.
  bool useless(TimeUs now) {
    if (blocks_ < kUsefulnessWindow || now - since_ < kUsefulnessTime) return false;
    const bool result = redundant_ * 10 > blocks_ * 9;
    blocks_ = redundant_ = 0;
    return result;
  }

 private:
  std::uint32_t blocks_ = 0;
  std::uint32_t redundant_ = 0;
  TimeUs since_ = 0;  // when the first of them came
  double share_ = 1;
};

class Traffic {
 public:
  // Of this time is what people are shown of a neighbour.
  static constexpr TimeUs kLately = 3 * kSecond;

  explicit Traffic(TimeUs now) : heard_at_(now) {}

  // Frames of all kinds.
  void received(std::uint64_t bytes, TimeUs now) {
    bytes_received_ += bytes;
    down_.add(bytes, now);
    heard_at_ = now;
  }
  void sent(std::uint64_t bytes, TimeUs now) {
    bytes_sent_ += bytes;
    up_.add(bytes, now);
  }
  // A block that came.
  void recoded() { ++blocks_recoded_; }
  void innovative() { ++blocks_innovative_; }
  Usefulness& usefulness() { return usefulness_; }
  const Usefulness& usefulness() const { return usefulness_; }

  // Its last message came, or the connection stood.
  TimeUs heard_at() const { return heard_at_; }
  std::uint64_t bytes_received() const { return bytes_received_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  // Bytes a second, lately.
  double down_rate(TimeUs now) const { return down_.bytes_per_second(now); }
  double up_rate(TimeUs now) const { return up_.bytes_per_second(now); }
  std::uint64_t blocks_innovative() const { return blocks_innovative_; }
  std::uint64_t blocks_recoded() const { return blocks_recoded_; }

 private:
  TimeUs heard_at_;
  std::uint64_t bytes_received_ = 0;
  std::uint64_t bytes_sent_ = 0;
  RateMeter down_{kLately};
  RateMeter up_{kLately};
  std::uint64_t blocks_innovative_ = 0;
  std::uint64_t blocks_recoded_ = 0;
  Usefulness usefulness_;
};

}  // namespace firn::core
