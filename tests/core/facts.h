// Values of the core in the words of a test: how long is long enough, how many
// are many. Other tests do not name those constants, so that a value can be tuned, or moved to
// another header, without editing tests that are about something else. A test that needs a value
// first looks whether it can set its own, or wait for the event; a test about a value may name it.
//
// A time is the least after which its sentence holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "client/core/base/constants.h"
#include "client/core/base/types.h"
#include "client/core/mesh/call_pacing.h"
#include "client/core/mesh/eviction.h"
#include "client/core/mesh/gossip.h"
#include "client/core/mesh/neighbour_count.h"
#include "client/core/mesh/peer_book.h"
#include "client/core/mesh/predecessors.h"
#include "client/core/neighbour/grants.h"
#include "client/core/neighbour/neighbour.h"
#include "client/core/neighbour/untold.h"
#include "client/core/receive/leases.h"
#include "client/core/receive/origin_fetch.h"
#include "client/core/rows/generations.h"
#include "client/core/send/source/contributions.h"
#include "client/core/send/source/lost_rows.h"
#include "client/core/send/source/plain_pass.h"
#include "client/core/send/source/spread.h"
#include "client/core/send/source/voices.h"
#include "client/core/trust/judging.h"
#include "client/core/trust/mistrust.h"
#include "client/core/trust/plain_fetch.h"
#include "client/core/trust/plain_mode.h"
#include "client/core/trust/plain_shares.h"
#include "client/core/trust/proof_serving.h"
#include "client/core/trust/regime.h"

namespace firn::test::facts {

using core::kSecond;
using core::TimeUs;

// --- how many neighbours ---
// So many neighbours make a mesh large; one fewer make a small one.
inline constexpr std::uint32_t kLargeMesh = core::kSmallMesh + 1;
// Neighbours that a peer accepts if no option limits them.
inline constexpr std::uint32_t kPlaces = core::kNeighboursMax;
// Neighbours that a peer of a large mesh looks for, and those of them that it calls itself.
inline constexpr std::uint32_t kWanted = core::kNeighboursWanted;
inline constexpr std::uint32_t kOwnCalls = kWanted / core::kOwnCallsShare;
// So many neighbours that a choice does not look at each of them.
inline constexpr std::uint32_t kManyNeighbours = core::kFewToLookAt + 50;

// --- calls and places ---
// Calls to an address that does not answer: those made at once, and the most within a time. Then
// the same for all addresses of a prefix.
inline constexpr TimeUs kVainCalls = core::kVainCalls;
inline TimeUs vain_calls_in(TimeUs time) {
  return kVainCalls + time / core::kVainCallTime + 1;
}
inline constexpr TimeUs kVainCallsToPrefix = core::kVainCallsPrefix;
inline TimeUs vain_calls_to_prefix_in(TimeUs time) {
  return kVainCallsToPrefix + time / core::kVainCallTimePrefix + 1;
}
// After one call of its own choice a peer may make the next.
inline constexpr TimeUs kNextOwnCall = core::kOwnCallTime;
// A neighbour with no block in either direction makes room for a newcomer: any neighbour, and one
// that waits for no block.
inline constexpr TimeUs kIdle = core::kIdleTime;
inline constexpr TimeUs kIdleWithoutNeed = core::kIdleTimeCrowded;
// The network of a neighbour that made room so may displace others again.
inline constexpr TimeUs kIdledAway = core::kIdledAwayTime;
// After a peer exchange its receiver accepts the next.
inline constexpr TimeUs kListensAgain = core::kExchangeInterval / 2;
// A peer that has received nothing new starves.
inline constexpr TimeUs kStarves = core::kStarvingTime;

// --- grants and rows ---
// The window of a neighbour of which nothing is known, and the largest of any.
inline constexpr std::uint32_t kWindowAtStart = core::kWindowMin;
inline constexpr std::uint32_t kWindowLargest = core::policy::kWindowMax;
// Blocks that all neighbours together are promised at most, by the number of missing rows.
inline std::uint64_t most_promised(std::uint64_t missing) {
  return core::policy::kPromisedTimes * missing;
}
// An answer that takes longer may come out of a queue; so many late answers show a long path.
inline constexpr TimeUs kMayBeQueue = core::kRoundTripMax;
inline constexpr std::uint32_t kAnswersBelieved = core::kRoundTripGrants;
// A neighbour that owes blocks and sends none has stalled.
inline constexpr TimeUs kStalled = core::kStalledAfter;
// A generation without a new row stands still; later its leases are void.
inline constexpr TimeUs kStandsStill = core::kStallTime;
inline constexpr TimeUs kLeasesVoid = core::kStallVoid;
// Generations that are open at once even if there is no memory.
inline constexpr std::uint32_t kOpenAnyway = core::kOpenMin;
// A neighbour of a small mesh that got so many blocks and sent none is in debt.
inline constexpr std::uint64_t kDebt = core::kDebtMax;

// --- origins ---
// A generation takes so long to come from an origin, as far as a peer knows that has got none yet.
inline constexpr TimeUs kUsualAtFirst = core::kUsualAtFirst;
// If a generation usually takes `usual`, neighbours that claim or offer something and bring nothing
// no longer count.
constexpr TimeUs lapses_after(TimeUs usual) {
  return std::max(core::kLapseTimes * usual, core::kLapseMin);
}
// Likewise: rows of a generation that is in part here have stopped coming.
constexpr TimeUs stands_after(TimeUs usual) {
  return core::kStandsTimes * usual;
}

// --- what a source finds out ---
inline constexpr TimeUs kNextReport = core::kReportInterval;
// Blocks that a neighbour must have been given, or rows told of, before a source judges by them.
inline constexpr std::uint32_t kEnoughToJudge = core::kGivenMin;
inline constexpr double kWorthOfSink = core::kWorthMin;
inline constexpr double kLowWorth = core::kTrustedWorth / 2;
inline constexpr double kWorthOfNewcomer = core::kNewcomerWorth;
// What a peer did counts neither against it nor against its network.
inline constexpr TimeUs kForgiven = core::kOffenceMemory;
inline constexpr TimeUs kNextLostRowsReview = core::policy::kLostRowsReview;
// A row has spread in a large mesh; later a complete generation says nothing about the row.
inline constexpr TimeUs kSpread = core::kSpreadTime;
inline constexpr TimeUs kGivenLongAgo = core::kSpreadRecent;

// --- which rows are believed ---
// Bytes of the check sum of one source block.
inline constexpr std::size_t kSumBytes = core::trust::kCheckTagBytes;
// Requests of one neighbour that are answered in a second; twice as many at once.
inline constexpr std::size_t kSumsPerSecond = core::trust::kChecksPerSecond;
inline constexpr std::size_t kLeavesPerSecond = core::trust::kLeavesPerSecond;
// A request for check sums, or for leaves, counts as unanswered.
inline constexpr TimeUs kSumsOverdue = core::kCheckTimeout;
inline constexpr TimeUs kLeavesOverdue = core::trust::kLeavesTimeout;
// A peer that finds no authority takes any row.
inline constexpr TimeUs kNoAuthority = core::kStallVoid + kSecond;
// A complete neighbour that has told nothing true counts no more.
inline constexpr TimeUs kTruthAwaited = core::trust::kTruthPatience;
// A peer of a small mesh has asked holders about some row.
inline constexpr TimeUs kSampled = core::trust::kPeerSample;
// A suspended sender's rows are taken again; trusted rows alone may be wanted again.
inline constexpr TimeUs kSuspensionOver = core::trust::kMistrustTime;
inline constexpr TimeUs kBelievesAgain = core::trust::kBelieveUnsure;
// The ban for a first fault is over, the longest ban is, and a conviction is forgotten.
inline constexpr TimeUs kFirstBanOver = core::kBanTimes[0];
inline constexpr TimeUs kBansOver = *std::rbegin(core::kBanTimes);
inline constexpr TimeUs kConvictionOver = core::trust::kConvictedMemory;

// --- block by block ---
// The mode ends if no false row comes; a false row from before no longer begins it.
inline constexpr TimeUs kPlainModeOver = core::trust::kPlainModeTime;
inline constexpr TimeUs kPlainModeForgotten = core::trust::kPlainModeMemory;
// A peer that gets no leaves, or no source blocks, takes coded blocks.
inline constexpr TimeUs kLeavesGivenUp = core::trust::kPlainWait;
inline constexpr TimeUs kBlocksGivenUp = core::trust::kPlainPatience;
// A receiver asks another neighbour for the block.
inline constexpr TimeUs kNextTurn = core::trust::kPlainTurn;
// A source takes a block for lost; it looks at the next generation.
inline constexpr TimeUs kBlockLost = core::policy::kPlainLost;
inline constexpr TimeUs kNextLook = core::policy::kPlainReview;

}  // namespace firn::test::facts
