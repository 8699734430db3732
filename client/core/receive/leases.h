// The receiver's side of flow control: how many blocks each neighbour may send us (credit), and how
// many of one generation (quota). The quotas together never exceed what is missing, so that several
// senders do not send the same last rows. Credit may total kPromisedTimes what is missing, as some
// neighbours do not use theirs; and a neighbour without any gets credit for one block.
#pragma once

#include <cstdint>

#include "client/core/neighbour/neighbours.h"
#include "client/core/receive/holders.h"
#include "client/core/rows/generations.h"

namespace firn::core::policy {

inline constexpr std::uint32_t kWindowMax = 512;  // blocks. Less: long fast paths starve [011]
// Longer intervals save bytes, and raise the share of redundant blocks [012]: double +5 % [096].
inline constexpr TimeUs kStateInterval = 250 * kMillisecond;
inline constexpr TimeUs kStateIntervalEnd = 50 * kMillisecond;  // near the end
inline constexpr TimeUs kStateIntervalMin = 2 * kMillisecond;   // to renew credit: never oftener
// Near the end neighbours are promised this many times what is missing: some will not send what
// they may, and who waits for them has nothing to do [070]. Half: home +29 % [096].
inline constexpr std::uint64_t kPromisedTimes = 2;
inline constexpr TimeUs kOwnQueueMax = 1 * kSecond;   // of our uplink, that windows cover as well
inline constexpr std::uint32_t kExhaustedStreak = 4;  // windows used up in a row that double it

// What bounds the grants of one round.
struct GrantLimits {
  bool paused = false;           // the disk is behind or full: grant nothing
  std::uint64_t blocks_max = 0;  // what the down limit and memory allow in all
  std::uint64_t promised = 0;    // Promises::sum
};

// Blocks to grant `neighbour` now, on top of its credit.
std::uint32_t blocks_to_grant(const Holdings& holdings, const Neighbour& neighbour,
                              const GrantLimits& limits);

// How shares are made.
struct Shares {
  std::uint32_t rotation = 0;  // changes now and then: remainders go to other neighbours in turn
  // A suspect may send one block, to prove itself, if another neighbour holds some of the
  // generation. Only while neighbours are few (kFewToLookAt).
  bool sifted = false;
  // Each may send one block at least, though some come twice.
  bool anybody = false;
};

// Blocks of open generation `g` that `neighbour` may have in flight to us.
std::uint32_t quota_of(const Holdings& holdings, const Neighbours& neighbours,
                       const Neighbour& neighbour, std::uint32_t g, const Shares& shares,
                       Holders& holders, TimeUs now);

// A neighbour's next window, so that it covers what the link carries; call before granting. If the
// neighbour answers grants promptly, its window grows by the blocks that have come. `own_queue`:
// how long a grant waits for our uplink, microseconds; the window covers it. If every grant so far
// waited, it is in the round trip as well, and counts twice. `alone`: it is the only neighbour.
// Then its blocks come in bursts as long as its window, which tell little of its rate, and a window
// that is too large does no harm, as no other neighbour sends the same rows. So it doubles whenever
// its sender had to wait for credit, as in TCP's slow start, and is never narrowed.
Grants::Window next_window(const Grants& grants, TimeUs own_queue, bool alone,
                           std::uint32_t block_bytes, std::uint32_t window_max, TimeUs now);

// True when so little is missing, or what is missing is read so soon, that grants should be renewed
// oftener.
bool near_end(const Generations& generations, const Neighbours& neighbours);

// How long after the last State the next one to `neighbour` is due. `can_grant`: half its window
// has been used and more can be granted. `states_rate`: bytes a second that States to all may take,
// 0: not known.
TimeUs state_interval(const Generations& generations, const Neighbours& neighbours,
                      const Neighbour& neighbour, bool can_grant, std::uint32_t block_bytes,
                      double states_rate, TimeUs now);

}  // namespace firn::core::policy
