#include "client/core/base/rate_budget.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace firn::core {

constexpr double kNoLimit = 1e18;  // more than can be taken

void RateBudget::set_rate(std::uint64_t rate, std::uint64_t burst, TimeUs now) {
  refill(now);
  const bool fresh = unlimited();
  rate_ = static_cast<double>(rate);
  burst_ = static_cast<double>(burst);
  last_ = std::max(last_, now);
  pot_ = fresh ? 0 : std::min(pot_, burst_);
  for (auto& [member, tokens] : buckets_) tokens = fresh ? 0 : std::min(tokens, brim());
  if (fresh && !buckets_.empty()) earn(burst_);
}

RateBudget::Member RateBudget::join(TimeUs now) {
  if (buckets_.empty()) last_ = now;
  refill(now);
  buckets_.emplace(next_, 0.0);
  double excess = 0;
  for (auto& [member, tokens] : buckets_) {
    excess += std::max(tokens - brim(), 0.0);
    tokens = std::min(tokens, brim());
  }
  if (buckets_.size() == 1) excess = burst_;
  earn(excess);
  return next_++;
}

void RateBudget::leave(Member member, TimeUs now) {
  refill(now);
  const double left = buckets_[member];
  buckets_.erase(member);
  if (left > 0 && !buckets_.empty()) earn(left);
}

// Equal parts for all that have room, until nothing is left or none has room.
void RateBudget::earn(double bytes) {
  while (bytes > 1e-6) {
    const auto room = std::count_if(buckets_.begin(), buckets_.end(),
                                    [this](const auto& entry) { return entry.second < brim(); });
    if (room == 0) {
      pot_ = std::min(burst_, pot_ + bytes);
      return;
    }
    const double part = bytes / static_cast<double>(room);
    for (auto& [member, tokens] : buckets_) {
      if (tokens >= brim()) continue;
      const double given = std::min(part, brim() - tokens);
      // Not by addition: what is left of the room after rounding would be given again and again.
      tokens = given < part ? brim() : tokens + given;
      bytes -= given;
    }
  }
}

void RateBudget::refill(TimeUs now) {
  if (unlimited() || now <= last_) return;
  const double earned = rate_ * static_cast<double>(now - last_) * 1e-6;
  last_ = now;
  earn(earned);
}

double RateBudget::available(Member member, TimeUs now) {
  if (unlimited()) return kNoLimit;
  refill(now);
  return buckets_[member] + pot_;
}

void RateBudget::take(Member member, std::uint64_t bytes) {
  if (unlimited()) return;
  double& own = buckets_[member];
  const auto wanted = static_cast<double>(bytes);
  const double from_own = std::clamp(own, 0.0, wanted);
  const double from_pot = std::min(pot_, wanted - from_own);
  pot_ -= from_pot;
  own -= wanted - from_pot;
}

void RateBudget::give_back(Member member, std::uint64_t bytes) {
  if (unlimited()) return;
  double& own = buckets_[member];
  own += static_cast<double>(bytes);
  const double excess = own - brim();
  if (excess <= 0) return;
  own = brim();
  earn(excess);
}

TimeUs RateBudget::ready_at(Member member, TimeUs now) {
  return available(member, now) > 0 ? now : reaches(member, 1, now);
}

TimeUs RateBudget::half_full_at(Member member, TimeUs now) {
  return available(member, now) >= brim() / 2 ? now : reaches(member, brim() / 2, now);
}

// Others earn as much as it does until they are full.
TimeUs RateBudget::reaches(Member member, double bytes, TimeUs now) {
  const double own = buckets_[member];
  double need = std::min(bytes, brim()) - own;
  std::vector<double> rooms;
  for (const auto& [other, tokens] : buckets_) {
    if (other != member && tokens < brim()) rooms.push_back(brim() - tokens);
  }
  std::sort(rooms.begin(), rooms.end());
  double earned = 0, level = 0;
  auto sharers = static_cast<double>(rooms.size() + 1);
  for (const double room : rooms) {
    const double step = std::min(need, room - level);
    earned += step * sharers;
    need -= step;
    level = room;
    sharers -= 1;
  }
  earned += need;
  return std::max(now, last_) + static_cast<TimeUs>(std::ceil(earned * kSecond / rate_)) + 1;
}

}  // namespace firn::core
