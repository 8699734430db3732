// Values of client/core/base/constants.h in the words of a test: how long is long enough, how many
// are many. Other tests do not name those constants, so that a value can be tuned, or moved to
// another header, without editing tests that are about something else. A test that needs a value
// first looks whether it can set its own, or wait for the event; a test about a value may name it.
//
// A time is the least after which its sentence holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "client/core/base/constants.h"
#include "client/core/base/types.h"

namespace firn::test::facts {

using core::kSecond;
using core::TimeUs;

// --- how many neighbours ---
// So many neighbours make a mesh large; one fewer make a small one.
inline constexpr std::uint32_t kLargeMesh = core::policy::kSmallMesh + 1;
// Neighbours that a peer accepts if no option limits them.
inline constexpr std::uint32_t kPlaces = core::policy::kNeighboursMax;
// Neighbours that a peer of a large mesh looks for, and those of them that it calls itself.
inline constexpr std::uint32_t kWanted = core::policy::kNeighboursWanted;
inline constexpr std::uint32_t kOwnCalls = kWanted / core::policy::kOwnCallsShare;
// So many neighbours that a choice does not look at each of them.
inline constexpr std::uint32_t kManyNeighbours = core::policy::kFewToLookAt + 50;

// --- calls and places ---
// Calls to an address that does not answer: those made at once, and the most within a time. Then
// the same for all addresses of a prefix.
inline constexpr TimeUs kVainCalls = core::policy::kVainCalls;
inline TimeUs vain_calls_in(TimeUs time) {
  return kVainCalls + time / core::policy::kVainCallTime + 1;
}
inline constexpr TimeUs kVainCallsToPrefix = core::policy::kVainCallsPrefix;
inline TimeUs vain_calls_to_prefix_in(TimeUs time) {
  return kVainCallsToPrefix + time / core::policy::kVainCallTimePrefix + 1;
}
// After one call of its own choice a peer may make the next.
inline constexpr TimeUs kNextOwnCall = core::policy::kOwnCallTime;
// A neighbour with no block in either direction makes room for a newcomer: any neighbour, and one
// that waits for no block.
inline constexpr TimeUs kIdle = core::policy::kIdleTime;
inline constexpr TimeUs kIdleWithoutNeed = core::policy::kIdleTimeCrowded;
// The network of a neighbour that made room so may displace others again.
inline constexpr TimeUs kIdledAway = core::policy::kIdledAwayTime;
// After a peer exchange its receiver accepts the next.
inline constexpr TimeUs kListensAgain = core::policy::kExchangeInterval / 2;
// A peer that has received nothing new starves.
inline constexpr TimeUs kStarves = core::policy::kStarvingTime;

// --- grants and rows ---
// The window of a neighbour of which nothing is known, and the largest of any.
inline constexpr std::uint32_t kWindowAtStart = core::policy::kWindowMin;
inline constexpr std::uint32_t kWindowLargest = core::policy::kWindowMax;
// Blocks that all neighbours together are promised at most, by the number of missing rows.
inline std::uint64_t most_promised(std::uint64_t missing) {
  return core::policy::kPromisedTimes * missing;
}
// An answer that takes longer may come out of a queue; so many late answers show a long path.
inline constexpr TimeUs kMayBeQueue = core::policy::kRoundTripMax;
inline constexpr std::uint32_t kAnswersBelieved = core::policy::kRoundTripGrants;
// A neighbour that owes blocks and sends none has stalled.
inline constexpr TimeUs kStalled = core::policy::kStalledAfter;
// A generation without a new row stands still; later its leases are void.
inline constexpr TimeUs kStandsStill = core::policy::kStallTime;
inline constexpr TimeUs kLeasesVoid = core::policy::kStallVoid;
// Generations that are open at once even if there is no memory.
inline constexpr std::uint32_t kOpenAnyway = core::policy::kOpenMin;
// A neighbour of a small mesh that got so many blocks and sent none is in debt.
inline constexpr std::uint64_t kDebt = core::policy::kDebtMax;

// --- what a source finds out ---
inline constexpr TimeUs kNextReport = core::policy::kReportInterval;
// Blocks that a neighbour must have been given, or rows told of, before a source judges by them.
inline constexpr std::uint32_t kEnoughToJudge = core::policy::kGivenMin;
inline constexpr double kWorthOfSink = core::policy::kWorthMin;
inline constexpr double kLowWorth = core::policy::kTrustedWorth / 2;
inline constexpr double kWorthOfNewcomer = core::policy::kNewcomerWorth;
// What a peer did counts neither against it nor against its network.
inline constexpr TimeUs kForgiven = core::policy::kOffenceMemory;
inline constexpr TimeUs kNextLostRowsReview = core::policy::kLostRowsReview;
// A row has spread in a large mesh; later a complete generation says nothing about the row.
inline constexpr TimeUs kSpread = core::policy::kSpreadTime;
inline constexpr TimeUs kGivenLongAgo = core::policy::kSpreadRecent;

// --- which rows are believed ---
// Bytes of the check sum of one source block.
inline constexpr std::size_t kSumBytes = core::policy::kCheckTagBytes;
// Requests of one neighbour that are answered in a second; twice as many at once.
inline constexpr std::size_t kSumsPerSecond = core::policy::kChecksPerSecond;
inline constexpr std::size_t kLeavesPerSecond = core::policy::kLeavesPerSecond;
// A request for check sums, or for leaves, counts as unanswered.
inline constexpr TimeUs kSumsOverdue = core::policy::kCheckTimeout;
inline constexpr TimeUs kLeavesOverdue = core::policy::kLeavesTimeout;
// A peer that finds no authority takes any row.
inline constexpr TimeUs kNoAuthority = core::policy::kStallVoid + kSecond;
// A complete neighbour that has told nothing true counts no more.
inline constexpr TimeUs kTruthAwaited = core::policy::kTruthPatience;
// A peer of a small mesh has asked holders about some row.
inline constexpr TimeUs kSampled = core::policy::kPeerSample;
// A suspended sender's rows are taken again; trusted rows alone may be wanted again.
inline constexpr TimeUs kSuspensionOver = core::policy::kMistrustTime;
inline constexpr TimeUs kBelievesAgain = core::policy::kBelieveUnsure;
// The ban for a first fault is over, the longest ban is, and a conviction is forgotten.
inline constexpr TimeUs kFirstBanOver = core::policy::kBanTimes[0];
inline constexpr TimeUs kBansOver = *std::rbegin(core::policy::kBanTimes);
inline constexpr TimeUs kConvictionOver = core::policy::kConvictedMemory;

// --- block by block ---
// The mode ends if no false row comes; a false row from before no longer begins it.
inline constexpr TimeUs kPlainModeOver = core::policy::kPlainModeTime;
inline constexpr TimeUs kPlainModeForgotten = core::policy::kPlainModeMemory;
// A peer that gets no leaves, or no source blocks, takes coded blocks.
inline constexpr TimeUs kLeavesGivenUp = core::policy::kPlainWait;
inline constexpr TimeUs kBlocksGivenUp = core::policy::kPlainPatience;
// A receiver asks another neighbour for the block.
inline constexpr TimeUs kNextTurn = core::policy::kPlainTurn;
// A source takes a block for lost; it looks at the next generation.
inline constexpr TimeUs kBlockLost = core::policy::kPlainLost;
inline constexpr TimeUs kNextLook = core::policy::kPlainReview;

}  // namespace firn::test::facts
