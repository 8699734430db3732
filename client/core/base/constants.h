// Every constant of the swarm's policy, in one place: value, unit, reason. A number in brackets is
// that of the note in docs/lab with the experiment. Values marked S come from the simulations of
// 12 to 10,000 peers behind the design; the others are plain engineering choices.
#pragma once

#include <cstdint>

#include "client/core/base/types.h"

namespace firn::core::policy {

// --- leases (receiver) ---
inline constexpr std::uint32_t kWindowMin = 4;    // blocks granted to a neighbour at a time; S
inline constexpr std::uint32_t kWindowMax = 512;  // blocks, of a neighbour at most [011]
// A window covers kWindowTime and kWindowRoundTrips round trips at the measured rate: one while it
// is renewed, at half, one while that is answered. The half covers a sender that sends in bursts:
// with 2 round trips its window would not grow [010].
inline constexpr TimeUs kWindowTime = 20 * kMillisecond;
inline constexpr double kWindowRoundTrips = 2.5;
// A grant answered later than this met a sender with nothing to send, or a queue: a window that
// covers a queue makes it longer [010]. Where the first kRoundTripGrants grants were all answered
// later, it is the path; of that windows cover no more than this all the same, and what takes
// longer than kRoundTripPath is not believed [056].
inline constexpr TimeUs kRoundTripMax = 300 * kMillisecond;
inline constexpr TimeUs kRoundTripPath = 1 * kSecond;
inline constexpr TimeUs kOwnQueueMax = 1 * kSecond;  // of our uplink, that windows cover as well
inline constexpr std::uint32_t kRoundTripGrants = 8;
inline constexpr std::uint32_t kExhaustedStreak = 4;  // windows used up in a row that double it
// A sender waited for credit if the first block of a grant came after a pause of more than this
// part of the time since the grant [011].
inline constexpr TimeUs kDryPause = 4;
// Or, where the path's round trip is known, if that block came within kPromptRoundTrips of it and
// kPromptSlack, for its own length and for what is done in turns. Then the window grows by what has
// come, to twice as much in a round trip [070].
inline constexpr double kPromptRoundTrips = 1.5;
inline constexpr TimeUs kPromptSlack = 5 * kMillisecond;
// Near the end neighbours are promised this many times what is missing: some will not send what
// they may, and who waits for them has nothing to do [070].
inline constexpr std::uint64_t kPromisedTimes = 2;

// What a block's frame holds beside payload and coding vector, about: the down limit counts it
// before the block has come.
inline constexpr std::uint64_t kBlockFrameBytes = 24;

// --- state messages ---
// Longer intervals save bytes, and raise the share of redundant blocks [012].
inline constexpr TimeUs kStateInterval = 250 * kMillisecond;
inline constexpr TimeUs kStateIntervalEnd = 50 * kMillisecond;     // S: near the end
inline constexpr TimeUs kStateIntervalUrgent = 10 * kMillisecond;  // a generation is complete
inline constexpr TimeUs kStateIntervalStart = 20 * kMillisecond;   // before a rate is known
inline constexpr TimeUs kFastHalfWindow = 10 * kMillisecond;   // half a window within: a fast link
inline constexpr TimeUs kStateIntervalMin = 2 * kMillisecond;  // to renew credit: never oftener
// States to all neighbours together take this part of the uplink, but where credit must be renewed:
// on slow uplinks and among many neighbours they come less often, down to kStateIntervalMax. In
// large meshes what others tell is worth more. Near the end they take kStateTimesEnd as much, as a
// redundant block costs more than a hundred of them. Bytes of one, headers included [057].
inline constexpr double kStateShare = 1.0 / 80;
inline constexpr double kStateShareLarge = 1.0 / 40;
inline constexpr double kStateTimesEnd = 10;
inline constexpr double kStateBytes = 150;
inline constexpr TimeUs kStateIntervalMax = 1 * kSecond;
inline constexpr TimeUs kStateGrain = 10 * kMillisecond;  // slow ones are due at multiples of this
inline constexpr TimeUs kKeepAlive = 45 * kSecond;   // a State without news: the line still stands
inline constexpr std::size_t kRidingEntries = 512;   // spans, and ranks, in a State aboard a block
inline constexpr std::uint32_t kQuotaRefreshes = 4;  // S: generations near their end told anew
inline constexpr std::uint64_t kQuotaRefreshTimes = 8;  // or this times what came meanwhile [088]
// Near the end: fewer blocks are missing than this many for each neighbour [012].
inline constexpr std::uint64_t kEndBlocks = 2;

// --- sending ---
// A source weighs a neighbour by its uplink over the median one, as announced, within these bounds.
// Rows of the first pass that go to a peer which does not upload are lacking everywhere else [014].
// A source looks at all neighbours again when what is usual of their uplinks has moved so far, and
// where there are few whenever it moves.
inline constexpr double kUsualStep = 1.0 / 16;
inline constexpr std::size_t kFewToLookAt = 256;
inline constexpr double kWeightMin = 0.001;
inline constexpr double kWeightMax = 4;
// Connections with unsent blocks at once. Each more is a block that is chosen earlier than need be;
// with only one the uplink stands idle between two blocks, and a neighbour that reads nothing holds
// up all. So from two on, as many as it takes to hold kBusyTime; two in large meshes [003].
inline constexpr std::uint32_t kBusyConnectionsMin = 2;
inline constexpr std::uint32_t kBusyConnections = 3;
// The next block of a source is innovative at any receiver: choosing early costs it little, an idle
// uplink costs all [004]. Elsewhere: at most, where blocks wait before the receivers' links [085].
inline constexpr std::uint32_t kBusyConnectionsSource = 4, kBusyConnectionsElsewhere = 64;
inline constexpr TimeUs kBusyTime = 40 * kMillisecond;  // of the uplink, held by waiting blocks
inline constexpr TimeUs kBusyTimeSource = 2 * kMillisecond;  // of a fast source's, one each
inline constexpr TimeUs kBusyTimeLarge = 20 * kMillisecond;  // in large meshes
// Blocks smaller than kRunBlock of one generation that a fast source chooses for a neighbour at
// once: kRunBytes of them, where it sends more blocks a second than its threads could be told of
// one by one. A choice looks at the neighbour's part of the memory, wakes threads and makes a
// record of TLS, whatever the size of the block [078]. At least kRunsWaiting bytes may wait in
// sockets then, or kRunsWaitingTime's: the rate follows from what may wait, and would sink with it
// where departures are heard of later [082].
inline constexpr std::size_t kRunBlock = 16384;
inline constexpr std::size_t kRunBytes = 65536;
inline constexpr std::size_t kRunsWaiting = 2 * 1024 * 1024;
inline constexpr TimeUs kRunsWaitingTime = 20 * kMillisecond;
inline constexpr double kRunRate = 12'000;  // blocks a second
// A connection is slow for a reason of its own if its block has not left when all waiting blocks
// could have left kPatienceTurns times (a congestion window, acknowledgements that stand in the
// receiver's narrow uplink) and leaves its place to another [007].
inline constexpr double kPatienceTurns = 1.5;
// Among the neighbours a relay can serve, one row more that a neighbour lacks counts as waiting for
// kChoicesPerRow more of our choices. Strictly the most deprived first, all peers send to the same
// one at once, and its downlink's queue overflows. In large meshes no two peers have the same
// neighbours, and the most deprived matter more [005].
inline constexpr std::uint64_t kChoicesPerRow = 1;
inline constexpr std::uint64_t kChoicesPerRowLarge = 4;
// Of the rows that a neighbour lacks beyond the others when it connects, this many make it come
// sooner. With all of them four peers of twelve that took a fresh key every ten seconds made a race
// 1.9 times as long [047], and a quarter of 28 three times [069].
inline constexpr std::uint64_t kNewcomerLag = 64;
// How often a source looks for rows that have got lost: a generation stands still for kStallTime.
// The conditions of lost_rows.h keep it from interrupting its first pass too easily [014].
inline constexpr TimeUs kLostRowsReview = 100 * kMillisecond;
inline constexpr TimeUs kLostRowsReviewEach = kMillisecond / 10;  // more time for many neighbours
inline constexpr std::uint32_t kLostRowsScanMax =
    4096;  // generations looked at in a review, at most
// A neighbour with fewer neighbours than kFewNeighbours times ours is chosen kChoicesForFew choices
// sooner than others, for each of its kind: a single one is not to be every peer's choice [015].
inline constexpr double kFewNeighbours = 0.75;
inline constexpr std::uint64_t kChoicesForFew = 32;
inline constexpr TimeUs kPipelineTime = 5 * kMillisecond;  // unsent blocks cover this much
inline constexpr std::uint32_t kPipelineMax = 64;
inline constexpr std::uint32_t kSmallMesh = 24;  // S: up to here the first-hand rule
// A generation that the front of the download has passed stays closed to second-hand rows for this
// many usual round trips, in which first-hand rows of it still come from other relays [056, 070].
inline constexpr double kFrontRoundTrips = 2;
// A generation of which at most this many rows are missing is open to every relay [013].
inline constexpr std::uint32_t kClosing = 4;
inline constexpr std::uint32_t kGapCap = 16;   // S: rank gaps above count as this
inline constexpr std::uint32_t kScanMax = 64;  // eligible generations compared for one decision
// After its first pass a source serves as many of those at a time as have this many blocks in all
// [062].
inline constexpr std::uint32_t kScanBlocks = 4096;
inline constexpr std::uint32_t kScanMin = 4;
inline constexpr std::uint32_t kLookMax = 512;  // generations looked at to find them
inline constexpr int kNullVectorTries = 8;
inline constexpr std::uint32_t kMixtureRows = 16;   // that are mixed into a block [053]
inline constexpr TimeUs kTakerTime = 10 * kSecond;  // had credit this long and sent nothing
// In a small mesh: blocks that a neighbour may owe (neighbour.h). A new row pays for kDebtRepaid
// blocks, and what is owed beyond that is forgiven; at most kDebtSaved are kept for later. The
// slowest uplinks of a swarm bring one row for ten blocks or so [042, 069].
inline constexpr std::uint64_t kDebtMax = 20;
inline constexpr std::uint64_t kDebtRepaid = 32;
inline constexpr std::uint64_t kDebtSaved = 256;
// A neighbour in debt, or on trial, is served when no other can take a block, and in one of
// kDebtorShare choices [042, 059].
inline constexpr std::uint32_t kDebtorShare = 128;
// Part of its last blocks that is new, below which a neighbour is no holder to count with: it mixes
// a few rows again and again, or claims what it lacks [042, 069]. The second is for a peer that has
// met polluters.
inline constexpr double kUsefulMin = 0.75;
inline constexpr double kUsefulMinPolluted = 0.5;
inline constexpr double kUsefulMemory = 32;            // blocks
inline constexpr std::uint32_t kOptimisticShare = 32;  // one choice of this many ignores that

// --- stalls ---
inline constexpr TimeUs kStallTime = 500 * kMillisecond;  // S: then a null vector is attached
inline constexpr TimeUs kStalledAfter = 3 * kSecond;      // a neighbour sends nothing of its grant
inline constexpr TimeUs kStallVoid = 4 * kStallTime;      // then claims and leases count no more
inline constexpr std::size_t kNullVectorsKept = 16;       // of one neighbour

// --- check keys ---
// A peer that nothing useful has reached for so long takes any block, an authority near or not. It
// calls more addresses, and idle neighbours are left for them.
inline constexpr TimeUs kStarvingTime = 5 * kSecond;
inline constexpr TimeUs kTruthPatience = 10 * kSecond;       // holders have this long to tell it
inline constexpr TimeUs kCheckTimeout = 3 * kSecond;         // then a request counts as unanswered
inline constexpr TimeUs kJudgingReview = 20 * kMillisecond;  // of all open generations
// t: a false row passes with odds of 2^-8t, and its sender is banned where it does not. Twice as
// many bytes cost a source of 8 Mbit/s with twelve neighbours 0.3 % of its uplink.
inline constexpr std::uint32_t kCheckTagBytes = 4;
// Sums are asked for ahead of need of as many generations as make this part of what the source
// sends, for all neighbours together; of all once a false row has been met [041].
inline constexpr double kCheckShareMax = 0.01;
inline constexpr std::size_t kReviewsMax = 512;  // sums that are to be found true or false
// Peers of which it is kept that they were shown to be guilty, or are mistrusted.
inline constexpr std::size_t kOffendersKept = 256;
// Generations that a neighbour may ask for a second, and twice as many at once (proof_serving.h).
inline constexpr std::uint64_t kChecksPerSecond = 32;
// Where no authority is near a peer asks other holders for sums (peer_checks.h): at most kMakers of
// those that have told the truth before. It asks kPeerChecksMax times about a generation that
// decodes to false data, then fetches it plainly; the second is where it knows no such holder.
inline constexpr std::size_t kMakers = 8;
inline constexpr std::uint32_t kPeerChecksMax = 32, kPeerChecksMaxUnsure = 3;
// So often some of its rows turn out wrong before it is fetched plainly: those may lie that have
// told the truth before.
inline constexpr std::uint32_t kWrongVerdictsMax = 24;
// In a small mesh about rows of some generation now and then, more often where some sender has
// shown no true row yet.
inline constexpr TimeUs kPeerSample = 4 * kSecond, kPeerSampleTrial = 500 * kMillisecond;
// A peer takes nothing from a neighbour, and sends it nothing, for this time after such sums have
// shown a row of it to be false; twice as long each further time within kOffenceMemory. The second
// is for sums of a maker that has told the truth before.
inline constexpr TimeUs kMistrustTime = 10 * kSecond, kMistrustTimeSure = 30 * kSecond;
inline constexpr std::uint32_t kMistrustDoublings = 5;
// So long it counts what a peer did: against it, and against those that come from its network after
// it (predecessors.h).
inline constexpr TimeUs kOffenceMemory = 600 * kSecond;
// So long trusted rows alone are wanted where nobody near is known to tell the truth; and after
// sums that contradict each other.
inline constexpr TimeUs kBelieveUnsure = 60 * kSecond;
// Generations that a peer asks about a second, and twice as many at once, as makers answer more.
inline constexpr std::uint64_t kSamplesPerSecond = 8;
// And that all neighbours together may ask a peer about, which does not speak for the authority.
inline constexpr std::uint64_t kPeerSumsPerSecond = 128;

// --- leaf lists ---
// Generations that are fetched plainly at a time.
inline constexpr std::size_t kPlainMax = 16;
// In a large mesh a peer fetches all generations plainly once it has met a false row. The mode ends
// kPlainModeTime after the last false row; where it begins again within kPlainModeMemory of its
// end, it lasts twice as long, up to kPlainModeMax. Meanwhile as many generations are fetched at a
// time as a State can name (limits::kWantedBlocksMax) [079].
inline constexpr TimeUs kPlainModeMemory = 60 * kSecond;
inline constexpr TimeUs kPlainModeTime = 600 * kSecond, kPlainModeMax = 2400 * kSecond;
// In this mode a peer asks for the leaves of generations up to kPlainAhead beyond the front, of
// kLeavesAtOnce at a time: all peers ask in the same order, and the first to have a list hands it
// on [079].
inline constexpr std::uint32_t kPlainAhead = 4;
inline constexpr std::ptrdiff_t kLeavesAtOnce = 3;
inline constexpr TimeUs kLeavesRetry = 200 * kMillisecond;  // where no neighbour has them yet
// A generation waits for its leaves for this time, then coded blocks of it are taken. Neighbours
// are told to wait for kPlainWaitMax generations at most.
inline constexpr TimeUs kPlainWait = 3 * kSecond;
inline constexpr std::size_t kPlainWaitMax = 4096;
// A receiver asks one of the neighbours that hold a block for it, another one each kPlainTurn.
// Where blocks are longer than kPlainTurnBytes the turn is longer in proportion [079].
inline constexpr TimeUs kPlainTurn = 1 * kSecond;
inline constexpr std::uint64_t kPlainTurnBytes = 64 << 10;
// A receiver chooses again after this time which neighbour it asks for which block; the States to
// all neighbours are made from one choice.
inline constexpr TimeUs kPlainSharesAge = 50 * kMillisecond;
// A sender chooses by chance among generations whose blocks are asked for; each generation further
// from the front loses this part of a chance [079].
inline constexpr double kPlainOrder = 0.1;
// A receiver asks one of kPlainPush neighbours for a block that none says it holds [079].
inline constexpr std::uint64_t kPlainPush = 5;
// A source takes a block for lost if fewer than kPlainSpread of its neighbours say they hold it,
// its receiver aside, after kPlainLost, or after the time in which a usual relay sends
// kPlainLostBlocks blocks, if that is longer. It remembers the blocks of the last kGivenKept
// generations [079].
inline constexpr TimeUs kPlainLost = 3 * kSecond;
inline constexpr double kPlainLostBlocks = 24;
inline constexpr double kPlainSpread = 1.0 / 8;
// A source looks for lost blocks of one generation each kPlainReview, and kPlainReviewEach later
// for each neighbour that it has, and hears kPlainTellers of them at most: what one neighbour says
// must not cost a source of thousands its time.
inline constexpr TimeUs kPlainReview = 20 * kMillisecond, kPlainReviewEach = 10;
inline constexpr std::size_t kPlainTellers = 256;
inline constexpr TimeUs kLeavesTimeout = 2 * kSecond;   // then another neighbour is asked
inline constexpr TimeUs kPlainPatience = 20 * kSecond;  // without a block, then it takes any
// Leaf lists that a neighbour may ask for a second, and twice as many at once (proof_serving.h).
inline constexpr std::uint64_t kLeavesPerSecond = 16;
// Bytes of a generation that cost one allowance: check sums take a quarter of the time of leaves,
// most of it to read the generation.
inline constexpr std::uint64_t kLeafPassBytes = 1 << 20, kSumsPassBytes = 4 << 20;

// --- many polluters ---
// Each polluter costs each peer five blocks or so, until it is convicted. Where a peer has
// convicted many, or some and there must be very many in all if its neighbours are like the rest of
// the swarm, it serves further ones last that have not proven a row yet. Where there are fewer it
// is quicker to find them all out [064].
inline constexpr std::size_t kManyConvictions = 20;
inline constexpr std::size_t kSomeConvictions = 4;
inline constexpr double kManyPolluters = 100;
// For those that were neighbours before the first false row: theirs are judged by then.
inline constexpr TimeUs kTrialGrace = 5 * kSecond;

// --- reports on what others pass on ---
inline constexpr TimeUs kReportInterval = 1 * kSecond;
inline constexpr std::size_t kReportersMin = 3;  // fewer tell a source nothing
// So many peers must say that this one sends false blocks before a person is told.
inline constexpr std::size_t kAccusersToTell = 3;
// Where reporters come from so many prefixes, those of one prefix weigh together as one.
inline constexpr std::size_t kPrefixesMin = 3;
inline constexpr double kAccusersMin = 2;         // in a large mesh: that convict a neighbour,
inline constexpr double kAccusersShare = 0.5;     // and are this part of those asked
inline constexpr double kAccusedWorth = 1.0 / 4;  // one convicts it
// In a small mesh: of a neighbour that cannot be judged yet while others can [047].
inline constexpr double kNewcomerWorth = 1.0 / 4;
inline constexpr TimeUs kContributionMemory = 5 * kSecond;
inline constexpr TimeUs kNewcomerTime = 2 * kSecond;  // rows, and reports of them, are on their way
inline constexpr int kNewcomerRoundTrips = 5;  // and kReportInterval, if more; twice that at most
inline constexpr TimeUs kNewcomerTimeMax =
    10 * kSecond;                              // then its worth is 1 (predecessors.h: later)
inline constexpr double kWorthMin = 1.0 / 64;  // it may begin to pass something on
inline constexpr double kWorthSteepness = 3;   // of what is passed on [042]
inline constexpr double kSinkWorth = 1.0 / 8;  // below that its rows count as lost [042]
// In a large mesh neighbours below this worth get this part of a source's blocks together, and so
// many at once.
inline constexpr double kTrustedWorth = 1.0 / 2;
inline constexpr double kLowWorthPart = 1.0 / 32;
inline constexpr double kLowWorthAtOnce = 4;
// A source remembers what it gave of the last so many generations: to a neighbour, and block by
// block.
inline constexpr std::size_t kGivenKept = 64;
// Of a neighbour a source believes what this share of the reporters say at least, so that a smaller
// share that praises a friend achieves nothing. Less than a half, as honest reporters get nothing
// from a neighbour that has banned them [042].
inline constexpr double kReportersShare = 0.4;
// What this part of the neighbours pass on at least is usual.
inline constexpr double kUsualShare = 0.25;
inline constexpr double kGivenMin = 4;  // blocks or rows, to judge by
// A reporter may tell of kReportExcess times the rows that its rank leaves for others, and
// kReportSlack more: what it tells of may run ahead of its ranks for a moment [069]. Of a rank that
// falls kReportForgiven rows are forgiven within kContributionMemory: two default generations.
inline constexpr double kReportForgiven = 128;
inline constexpr double kReportExcess = 1.25;
inline constexpr double kReportSlack = 24;

// In a large mesh sources find out by null vectors what has spread: rows so old should have; of
// each neighbour one is kept in this time, for so long, of a generation so many; a reporter that
// was asked about fewer than kGivenMin says nothing, nor does a null vector that lets a smaller
// part of them through. Null vectors that a peer sends to a source in each kReportInterval.
inline constexpr TimeUs kSpreadTime = 1500 * kMillisecond;
inline constexpr TimeUs kSpreadSample = 100 * kMillisecond;
inline constexpr TimeUs kSpreadMemory = 30 * kSecond;
inline constexpr TimeUs kSpreadRecent = 5 * kSecond;  // by a reporter that holds all of it [064]
inline constexpr std::size_t kSpreadRowsMax = 256;
inline constexpr double kSpreadTelling = 0.125;
inline constexpr double kSpreadReporters = 64;  // of those that have called, about
inline constexpr std::size_t kSpreadVectors = 4;

inline constexpr TimeUs kDepartureInterval = 100 * kMillisecond;  // is it safe to leave?

// --- neighbours ---
// A socket that takes nothing for this long is not busy but stuck.
inline constexpr TimeUs kStuckTime = 3 * kSecond;
inline constexpr TimeUs kStuckPatience = 60 * kSecond;  // and is given up, not before it would
inline constexpr std::uint64_t kStuckRate = 4096;       // drain at this many bytes a second
inline constexpr std::uint32_t kRemotePagesMax = 2048;  // partial generations of one neighbour
// Large meshes: each peer calls half of those wanted, so that with the calls of others the graph is
// a random one of about this degree, and fills up later where few calls came. A tight upper limit
// shuts late comers out: they gather among themselves, and the first, all neighbours of the source,
// stand half idle [016].
inline constexpr std::uint32_t kNeighboursWanted = 12;
inline constexpr std::uint32_t kNeighboursMax = 40;  // accept up to here
inline constexpr TimeUs kMeshTime = 3 * kSecond;     // calls of others are waited for this long
// This peer chooses and calls one in kOwnCallsShare of the neighbours it wants itself, however many
// peers call it: one attacker may own all of those.
inline constexpr std::size_t kOwnCallsShare = 4;
inline constexpr TimeUs kOwnCallTime = 2 * kSecond;  // from one such call to the next
inline constexpr std::uint64_t kOpenMin = 4;         // generations open at once, however large n is
inline constexpr TimeUs kInviteTime = 1 * kSecond;   // then others are named in its place [062]
inline constexpr std::size_t kShutTold = 16;         // generations told of where no more may [062]
inline constexpr std::uint32_t kCallsAtOnce = 8;
// Calls in vain to one address: so many at once, then one in this time. All peers of a swarm may be
// told of the same victim, so that each must be modest.
inline constexpr TimeUs kVainCalls = 8;
inline constexpr TimeUs kVainCallTime = 5 * kSecond;
inline constexpr TimeUs kVainCallsPrefix = 64;  // the same, to a prefix
inline constexpr TimeUs kVainCallTimePrefix = kSecond / 2;
inline constexpr TimeUs kCallAgainFirst = 1 * kSecond;
inline constexpr TimeUs kCallAgainMax = 60 * kSecond;
inline constexpr TimeUs kUselessTime = 600 * kSecond;  // a useless peer is not called this long
// A peer that has no place, or made room for another, is left for this time. One that does not
// serve the content may be about to: it is called again after this time, then after twice that, up
// to kUselessTime. All peers of a swarm may have been told of it in error.
inline constexpr TimeUs kRefusedTime = 30 * kSecond;
// A neighbour that moved no block for this long makes room for a newcomer where all places are
// taken; sooner if it neither wants a block that we may send nor lets us send one. Its Hello must
// have come sooner still.
inline constexpr TimeUs kIdleTime = 120 * kSecond;
inline constexpr TimeUs kIdleTimeCrowded = 5 * kSecond;
inline constexpr TimeUs kFirstMessageTime = 2 * kSecond;
inline constexpr TimeUs kIdledAwayTime = 60 * kSecond;  // then its network may do so again
// Networks of which is kept that a neighbour did so, and those that predecessors.h remembers.
inline constexpr std::size_t kNetworksMax = 1024;
// A peer that starves (kStarvingTime) looks so often whether there are addresses to call.
inline constexpr TimeUs kStarvingReview = 500 * kMillisecond;
inline constexpr std::uint32_t kStarvingNeighbours = 2;  // times as many neighbours as else
inline constexpr std::uint32_t kStarvingCallsAtOnce =
    32;                                           // those that do not answer take 10 s each
inline constexpr std::size_t kHistoryMax = 1000;  // that have left, in a report
inline constexpr TimeUs kExchangeInterval = 20 * kSecond;
inline constexpr TimeUs kExchangeSlack = 1 * kSecond;
// The first exchange with neighbours that have called us, if there is a peer to tell of; later ones
// come after half of the interval if a peer has come since. Without a first one, peers that accept
// no connections do not hear of all others for 20 s [015].
inline constexpr TimeUs kExchangeFirst = 1 * kSecond;
inline constexpr TimeUs kHelloTimeout = 10 * kSecond;
// A neighbour is judged useless over this many blocks and this long, at least [023].
inline constexpr std::uint32_t kUsefulnessWindow = 256;
inline constexpr TimeUs kUsefulnessTime = 2 * kSecond;

// --- trackers ---
inline constexpr TimeUs kAnnounceIntervalMin = 1 * kSecond;     // whatever a tracker says
inline constexpr TimeUs kAnnounceIntervalMax = 3600 * kSecond;  // or how long it wants to rest
inline constexpr TimeUs kAnnounceRetryFirst = 5 * kSecond;
inline constexpr TimeUs kAnnounceRetryMax = 300 * kSecond;
inline constexpr TimeUs kAnnounceLonely = 10 * kSecond;  // sooner while we have no neighbour
inline constexpr std::uint32_t kAnnouncePeers = 50;

// --- manifest ---
inline constexpr TimeUs kManifestTimeout = 10 * kSecond;   // for a part; then another is asked
inline constexpr TimeUs kManifestRateMin = 16 << 10;       // bytes a second over all parts
inline constexpr TimeUs kManifestAskAgain = 30 * kSecond;  // the same neighbour
// Parts are as large as a limited uplink carries in a fraction of a second, within bounds.
inline constexpr std::uint64_t kManifestPartsPerSecond = 4;
inline constexpr std::uint64_t kManifestPartMin = 4 << 10;

// --- bans, by number of strikes (further ones take as long as the last); not for good, as an
// honest relay may pass on false rows ---
inline constexpr TimeUs kBanTimes[] = {30 * kSecond, 600 * kSecond, 3600 * kSecond};
inline constexpr std::uint32_t kStrikesConvicted = 2;     // for a false block it had answered for
inline constexpr TimeUs kConvictedMemory = kBanTimes[2];  // then convictions are forgotten

}  // namespace firn::core::policy
