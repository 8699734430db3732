#include "client/core/leases.h"

#include <algorithm>
#include <utility>

#include "client/core/policy.h"

namespace firn::core {

std::uint64_t promised_blocks(const Neighbours& neighbours, TimeUs now) {
  std::uint64_t sum = 0;
  for (const auto& [key, n] : neighbours) {
    if (!n->stalled(now)) sum += n->outstanding();
  }
  return sum;
}

std::uint32_t blocks_to_grant(const Holdings& holdings, const Neighbour& neighbour,
                              const GrantLimits& limits) {
  const std::uint64_t missing = holdings.missing();
  if (limits.paused || missing == 0 || limits.blocks_max == 0) return 0;
  const std::uint32_t open = neighbour.outstanding();
  if (open >= neighbour.window) return 0;
  std::uint64_t give = neighbour.window - open;
  give = std::min(give, missing > limits.promised ? missing - limits.promised : 0);
  if (give == 0 && open == 0) give = 1;
  give = std::min<std::uint64_t>(give, UINT32_MAX - neighbour.credit_granted);
  return static_cast<std::uint32_t>(std::min(give, limits.blocks_max));
}

std::uint32_t quota_of(const Holdings& holdings, const Neighbours& neighbours,
                       const Neighbour& neighbour, std::uint32_t g, std::uint32_t rotation,
                       TimeUs now) {
  const std::uint32_t missing = holdings.blocks_in(g) - holdings.rank(g);
  if (missing == 0 || holdings.given_up().contains(g)) return 0;
  const OpenGeneration* open = holdings.find_open(g);
  if (open && open->decoding) return 0;
  // Far from its end each may send an equal part, whether we know that it holds some or not: all
  // windows together can be several times what is missing where the links are fast or long.
  const auto size = static_cast<std::uint32_t>(neighbours.size());
  if (missing >= size * policy::kWindowMin) return std::min(neighbour.window, missing / size);
  const std::uint32_t own_rank = neighbour.remote_rank(g);
  if (own_rank == 0) return 0;
  // Shares of what is missing among those that hold some of it: the larger ranks first, equal ones
  // in a turn that goes round.
  std::uint32_t holders = 0, before = 0;
  const std::uint32_t turn = (rotation + g) % size;
  const std::uint32_t own_place = (neighbours.index_of(neighbour.key) + turn) % size;
  std::uint32_t next_place = turn;
  for (const auto& [key, n] : neighbours) {
    const std::uint32_t place = next_place;
    next_place = place + 1 == size ? 0 : place + 1;
    const std::uint32_t rank = n->remote_rank(g);
    if (rank == 0 || n->stalled(now)) continue;
    ++holders;
    if (rank > own_rank || (rank == own_rank && place < own_place)) ++before;
  }
  if (holders == 0) return 1;  // it alone, and stalled: let it come back
  std::uint32_t share = missing / holders + (before < missing % holders ? 1 : 0);
  // Shares go to who claims most. Where nothing comes of it, anybody may try.
  if (share == 0 && open && now - open->last_growth >= policy::kStallVoid) share = 1;
  return std::min(share, neighbour.window);
}

void adapt_window(Neighbour& neighbour, bool alone, std::uint32_t block_bytes,
                  std::uint32_t window_max, TimeUs now) {
  const bool exhausted = neighbour.credit_granted > 0 && neighbour.outstanding() == 0;
  neighbour.exhausted_streak = exhausted ? neighbour.exhausted_streak + 1 : 0;
  const double time = static_cast<double>(policy::kWindowTime) +
                      policy::kWindowRoundTrips * static_cast<double>(neighbour.round_trip());
  const double covered = neighbour.receive_rate(now) * time * 1e-6 / block_bytes;
  std::uint32_t window = neighbour.window;
  // Taken back in any case: what was seen among several is no reason to widen it once it is alone.
  const bool ran_dry = std::exchange(neighbour.ran_dry, false);
  if (alone) {
    if (ran_dry) window *= 2;
  } else if (neighbour.exhausted_streak >= policy::kExhaustedStreak) {
    // It used up several windows before we could renew them: the path is longer than we think.
    window *= 2;
    neighbour.exhausted_streak = 0;
  } else if (covered < window / 4.0) {
    window = window / 2;
  }
  window = std::max(window, static_cast<std::uint32_t>(std::min(covered, 1e6)));
  neighbour.window =
      std::clamp(window, policy::kWindowMin, std::max(policy::kWindowMin, window_max));
}

bool near_end(const Holdings& holdings, const Neighbours& neighbours) {
  return holdings.missing() < policy::kEndBlocks * neighbours.size();
}

TimeUs state_interval(const Holdings& holdings, const Neighbours& neighbours,
                      const Neighbour& neighbour, bool can_grant, std::uint32_t block_bytes,
                      TimeUs now) {
  TimeUs interval =
      near_end(holdings, neighbours) ? policy::kStateIntervalEnd : policy::kStateInterval;
  if (neighbour.urgent) interval = std::min(interval, policy::kStateIntervalUrgent);
  if (!can_grant) return interval;
  // Half its window has come. On a fast link renew at once, or it might have to wait for us; on a
  // slow one when the other half will have come too, and on a long path (where the window is no
  // longer the least) a round trip before that: quicker renewal only costs messages and rank
  // reports that are out of date.
  if (neighbour.last_arrival - neighbour.last_grant < policy::kFastHalfWindow) {
    return std::min(interval, policy::kStateIntervalMin);
  }
  const double rate = neighbour.receive_rate(now);
  if (rate <= 0) return std::min(interval, policy::kStateIntervalStart);
  const double half_window = neighbour.window / 2.0 * block_bytes;
  const TimeUs ahead = neighbour.window > policy::kWindowMin ? neighbour.round_trip() : 0;
  // After long silence the rate is next to nothing.
  const auto due = static_cast<TimeUs>(std::min(
      half_window / rate * 1e6 - static_cast<double>(ahead), static_cast<double>(interval)));
  return std::min(interval, std::max(due, policy::kStateIntervalMin));
}

}  // namespace firn::core
