#include "client/core/receive/leases.h"

#include <algorithm>

#include "client/core/base/constants.h"
#include "client/core/neighbour/grants.h"

namespace firn::core::policy {

// Near the end States take so many times their part of the uplink, as a redundant block costs more
// than a hundred of them. Bytes of one, headers included [057].
constexpr double kStateTimesEnd = 10;
constexpr double kStateBytes = 150;
// A window covers kWindowTime and kWindowRoundTrips round trips at the measured rate: one while it
// is renewed, at half, one while that is answered. The half covers a sender that sends in bursts:
// with 2 round trips its window would not grow [010]. Half: home +20 % [096]; double: promises.
constexpr TimeUs kWindowTime = 20 * kMillisecond;
constexpr double kWindowRoundTrips = 2.5;
constexpr TimeUs kStateIntervalUrgent = 10 * kMillisecond;  // a generation is complete
constexpr TimeUs kStateIntervalStart = 20 * kMillisecond;   // before a rate is known
constexpr TimeUs kFastHalfWindow = 10 * kMillisecond;       // half a window within: a fast link
// Near the end: fewer blocks are missing than this many for each neighbour [012].
constexpr std::uint64_t kEndBlocks = 2;

std::uint32_t blocks_to_grant(const Holdings& holdings, const Neighbour& neighbour,
                              const GrantLimits& limits) {
  const std::uint64_t missing = holdings.missing();
  if (limits.paused || missing == 0 || limits.blocks_max == 0) return 0;
  const std::uint32_t open = neighbour.grants.outstanding();
  if (open >= neighbour.grants.window().blocks) return 0;
  std::uint64_t give = neighbour.grants.window().blocks - open;
  const std::uint64_t most = kPromisedTimes * missing;
  give = std::min(give, most > limits.promised ? most - limits.promised : 0);
  if (give == 0 && open == 0) give = 1;
  give = std::min<std::uint64_t>(give, UINT32_MAX - neighbour.grants.credit());
  return static_cast<std::uint32_t>(std::min(give, limits.blocks_max));
}

namespace {

std::uint32_t unsuspected(const Neighbours& neighbours) {
  return static_cast<std::uint32_t>(
      std::count_if(neighbours.begin(), neighbours.end(),
                    [](const Neighbour& n) { return !is_suspect(n.regard()); }));
}

}  // namespace

std::uint32_t quota_of(const Holdings& holdings, const Neighbours& neighbours,
                       const Neighbour& neighbour, std::uint32_t g, const Shares& shares,
                       Holders& known, TimeUs now) {
  const std::uint32_t window = neighbour.grants.window().blocks;
  const std::uint32_t missing = holdings.blocks_in(g) - holdings.rank(g);
  if (!holdings.wants(g) || missing == 0 || is_suspended(neighbour.regard())) return 0;
  const OpenGeneration* open = holdings.find_open(g);
  if (open && open->decoding) return 0;
  // Far from its end each may send an equal part, whether we know that it holds some or not: all
  // windows together can be several times what is missing where the links are fast or long.
  const auto size = static_cast<std::uint32_t>(neighbours.size());
  const bool sifted = shares.sifted && known.share(neighbours, g, 0, true, {}, now).holders > 0;
  if (sifted && is_suspect(neighbour.regard())) return std::min(window, 1u);
  const std::uint32_t sharers = sifted ? unsuspected(neighbours) : size;
  if (missing >= sharers * kWindowMin) return std::min(window, missing / sharers);
  const std::uint32_t own_rank = neighbour.holds.rank(g);
  if (own_rank == 0) return 0;
  // Shares of what is missing among those that hold some of it: the larger ranks first, equal ones
  // in a turn that goes round.
  const std::uint32_t turn = (shares.rotation + g) % size;
  const std::uint32_t own_place = (neighbours.index_of(neighbour.key) + turn) % size;
  const Holders::Share shared =
      known.share(neighbours, g, turn, sifted, {own_rank, own_place}, now);
  // It alone, and stalled, or it sends little that is new: it may show that it is better.
  if (shared.holders == 0 || !neighbour.useful()) return 1;
  std::uint32_t share = shared.rows(missing);
  // Shares go to the neighbours that claim most. Where nothing comes of it, any may try.
  if (shares.anybody || (open && now - open->last_growth >= kStallVoid))
    share = std::max(share, 1u);
  return std::min(share, window);
}

Grants::Window next_window(const Grants& grants, TimeUs own_queue, bool alone,
                           std::uint32_t block_bytes, std::uint32_t window_max, TimeUs now) {
  Grants::Window next = grants.window();
  const bool exhausted = grants.credit() > 0 && grants.outstanding() == 0;
  next.exhausted_streak = exhausted ? next.exhausted_streak + 1 : 0;
  const TimeUs longest = grants.path_known() ? kRoundTripPath : kRoundTripMax;
  const TimeUs round_trip =
      std::min(grants.round_trip(), longest) + std::min(own_queue, kOwnQueueMax);
  const double time =
      static_cast<double>(kWindowTime) + kWindowRoundTrips * static_cast<double>(round_trip);
  const double covered = grants.rate(now) * time * 1e-6 / block_bytes;
  std::uint32_t blocks = next.blocks;
  if (alone) {
    if (grants.ran_dry()) blocks *= 2;
  } else if (grants.answered_promptly() && covered >= blocks / 4.0) {
    blocks += grants.arrived();
  } else if (next.exhausted_streak >= kExhaustedStreak) {
    // It used up several windows before we could renew them: the path is longer than we think.
    blocks *= 2;
    next.exhausted_streak = 0;
  } else if (covered < blocks / 4.0) {
    blocks = blocks / 2;
  }
  blocks = std::max(blocks, static_cast<std::uint32_t>(std::min(covered, 1e6)));
  next.blocks = std::clamp(blocks, kWindowMin, std::max(kWindowMin, window_max));
  return next;
}

bool near_end(const Generations& generations, const Neighbours& neighbours) {
  return generations.reads_end() ||
         generations.holdings().missing() < kEndBlocks * neighbours.size();
}

namespace {

// The interval of States: `usual`, or longer where States to all neighbours would exceed `rate`.
TimeUs affordable(TimeUs usual, double rate, std::size_t neighbours) {
  if (rate <= 0) return usual;
  const double takes = 1e6 * kStateBytes * static_cast<double>(neighbours) / rate;
  const auto longest = static_cast<double>(kStateIntervalMax);
  return std::max(usual, static_cast<TimeUs>(std::min(takes, longest)));
}

}  // namespace

TimeUs state_interval(const Generations& generations, const Neighbours& neighbours,
                      const Neighbour& neighbour, bool can_grant, std::uint32_t block_bytes,
                      double states_rate, TimeUs now) {
  TimeUs interval =
      near_end(generations, neighbours)
          ? affordable(kStateIntervalEnd, states_rate * kStateTimesEnd, neighbours.size())
          : affordable(kStateInterval, states_rate, neighbours.size());
  if (neighbour.untold.urgent()) interval = std::min(interval, kStateIntervalUrgent);
  if (!can_grant) return interval;
  // Half its window has come. On a fast link renew at once, or it might have to wait for us; on a
  // slow one when the other half will have come too, and on a long path (where the window is no
  // longer the least) a round trip before that: quicker renewal only costs messages and rank
  // reports that are out of date.
  if (neighbour.grants.last_arrival() - neighbour.grants.last_grant() < kFastHalfWindow) {
    return std::min(interval, kStateIntervalMin);
  }
  const double rate = neighbour.grants.rate(now);
  if (rate <= 0) return std::min(interval, kStateIntervalStart);
  const std::uint32_t window = neighbour.grants.window().blocks;
  const double half_window = window / 2.0 * block_bytes;
  const TimeUs ahead = window > kWindowMin ? neighbour.grants.round_trip() : 0;
  // After long silence the rate is next to nothing.
  const auto due = static_cast<TimeUs>(std::min(
      half_window / rate * kSecond - static_cast<double>(ahead), static_cast<double>(interval)));
  return std::min(interval, std::max(due, kStateIntervalMin));
}

}  // namespace firn::core::policy
