// Every constant of the swarm's policy, in one place. Values marked S come from the policy
// simulations behind the design (12 to 10,000 peers against the fluid bound); the others are plain
// engineering choices, to be replaced by measurements.
#pragma once

#include <cstdint>

#include "client/core/types.h"

namespace firn::core::policy {

// --- leases (receiver) ---
inline constexpr std::uint32_t kWindowMin = 4;  // S: blocks granted to a neighbour at a time
inline constexpr std::uint32_t kWindowMax = 512;
// A window covers kWindowTime and kWindowRoundTrips round trips at the measured rate: one while it
// is renewed, at half, one while that is answered. A single sender that sends in bursts gets half a
// window a round trip, and with 2 of them its window does not grow. Six peers with 100 Mbit/s, 256
// MiB, delays of 10 to 50 ms: with none 2.72 of the bound; with 2, 2.5, 3 of
// them 1.094, 1.095, 1.101. Delays of 100 ms for all: 7.08; 1.180, 1.171, 1.231.
inline constexpr TimeUs kWindowTime = 20 * kMillisecond;
inline constexpr double kWindowRoundTrips = 2.5;
// What was answered later had nothing to send, or stood in a queue: windows that cover a queue make
// it longer. Uplinks of 16 and downlinks of 8 Mbit/s: with 100 ms 1.236, 300 ms 1.246, 1 s 1.942.
// Six peers as above with delays of 0 to 200 ms: 9.21, 1.344, 1.213.
inline constexpr TimeUs kRoundTripMax = 300 * kMillisecond;
inline constexpr std::uint32_t kExhaustedStreak = 4;  // windows used up in a row that double it
// A sender waited for credit if the first block of a grant came after a pause of more than this
// part of the time since the grant.
inline constexpr TimeUs kDryPause = 4;

// What a block's frame holds beside payload and coding vector, about: the down limit counts it
// before the block has come.
inline constexpr std::uint64_t kBlockFrameBytes = 24;

// --- state messages ---
// With 200, 250, 300 ms between two States 100 peers end at 1.1282, 1.1263, 1.1257,
// with 1.60, 1.34, 1.18 % of the bytes in States and 2.07, 2.11, 2.14 % redundant blocks; 12 peers
// with 200, 250 ms at 1.0620, 1.0621 (seed of 16 Mbit/s: 1.0886, 1.0866). Three seeds each.
inline constexpr TimeUs kStateInterval = 250 * kMillisecond;
inline constexpr TimeUs kStateIntervalEnd = 50 * kMillisecond;     // S: near the end
inline constexpr TimeUs kStateIntervalUrgent = 10 * kMillisecond;  // a generation is complete
inline constexpr TimeUs kStateIntervalStart = 20 * kMillisecond;   // before a rate is known
inline constexpr TimeUs kFastHalfWindow = 10 * kMillisecond;   // half a window within: a fast link
inline constexpr TimeUs kStateIntervalMin = 2 * kMillisecond;  // to renew credit: never oftener
inline constexpr TimeUs kStateGrain = 10 * kMillisecond;  // slow ones are due at multiples of this
inline constexpr TimeUs kKeepAlive = 45 * kSecond;   // a State without news: the line still stands
inline constexpr std::size_t kRidingEntries = 512;   // spans, and ranks, in a State aboard a block
inline constexpr std::uint32_t kQuotaRefreshes = 4;  // S: generations near their end told anew
// Near the end: fewer are missing than this many for each neighbour. With 8, 4, 2 of them 12 peers
// end at 1.0635, 1.0623, 1.0620 (three seeds), 100 at 1.1311, 1.1307, 1.1287 (one); 1 is as 2.
inline constexpr std::uint64_t kEndBlocks = 2;

// --- sending ---
// A source weighs a neighbour by its uplink over the median one, as announced, within these bounds.
// Rows of the first pass that go to a peer which does not upload are lacking everywhere else: with
// one such peer of twelve, and a share of at least 0.1 for it, half of the generations lacked a
// row, and every peer held up to 62 % of the content as unfinished rows, ratio 1.139; with 0.02
// 1.108, 0.001 1.095.
inline constexpr double kWeightMin = 0.001;
inline constexpr double kWeightMax = 4;
// Connections with unsent blocks at once. Each more is a block chosen earlier than need be: with
// one, two, three of them 0.9, 1.3, 1.7 % of the blocks were redundant in a flash crowd of 12 at
// 8 Mbit/s, and 16 peers of 0.5 to 16 Mbit/s took 1.59, 1.73, 1.9 times the bound. With only one
// the uplink stands idle between two blocks, and one neighbour that reads nothing holds up all. So
// as many as it takes to hold kBusyTime, from two on. Races with a seed of 16 Mbit/s: two at
// 8 Mbit/s 1.094, 1.092, 1.087; three, each counted as gone 3 and not 10 ms before it is
// (proto/transport/backlog.cc), 1.082, 1.082, with 0.30 and not 0.22 % redundant. In simulation,
// where no uplink waits for a thread, 12 peers with that seed have 1.0785, 1.0808, and 100 peers
// 1.128, 1.132: large meshes were not raced, and keep two.
inline constexpr std::uint32_t kBusyConnectionsMin = 2;
inline constexpr std::uint32_t kBusyConnections = 3;
// The next block of a source is innovative at any receiver, so that choosing early costs it little,
// and an uplink that stands idle costs all. Seed of 16 Mbit/s: 2 or 3, busy 95 %, ratio 1.104; 4,
// 97 %, 1.097 (simulated, where no uplink waits for an acknowledgement: 1.0900, 1.0909).
inline constexpr std::uint32_t kBusyConnectionsSource = 4;
inline constexpr TimeUs kBusyTime = 40 * kMillisecond;
inline constexpr TimeUs kBusyTimeLarge = 20 * kMillisecond;
// A connection is slow for a reason of its own if its block has not left when all waiting blocks
// could have left kPatienceTurns times (a congestion window, acknowledgements that stand in the
// receiver's narrow uplink) and leaves its place to another. Races with uplinks of 2 to 18 Mbit/s:
// never 1.222 of the bound (uplinks of 18 Mbit/s busy 73 % of the time), after 2 turns 1.119 (88
// %), after 1.5 turns 1.081 (92 %).
inline constexpr double kPatienceTurns = 1.5;
// Among the neighbours a relay can serve, one row more that a neighbour lacks counts as waiting for
// kChoicesPerRow more of our choices. Strictly the most deprived first, all peers send to the same
// one at once, and its downlink's queue overflows. Races with downlinks of 9 to 10 Mbit/s and
// uplinks of 8: strictly 1.80 of the bound; 2 choices 1.185, 1 choice 1.104. In the same minutes
// uplinks of 2 to 18: strictly 1.097, 2 choices 1.089, 1 choice 1.072; a seed of
// 16: 1.106, 1.101, 1.096. In large meshes no two have the same neighbours, and the most deprived
// matter more: 100 peers simulated, with 4, 2, 1 choices: 1.127, 1.128, 1.137 (strictly 1.127).
inline constexpr std::uint64_t kChoicesPerRow = 1;
inline constexpr std::uint64_t kChoicesPerRowLarge = 4;
// How often a source looks for rows that have got lost (gaps.h); they did when a generation stands
// still for kStallTime. Without, and with kStallTime of 300 ms, 500 ms, 1 s, 2 s: a third crashes,
// seed of 16 Mbit/s, 1.131; 1.074, 1.075, 1.074, 1.085; one only takes, seed of 16, 1.106; 1.095,
// 1.100, 1.099, 1.104. Those let the source interrupt its first pass for any that stands still, so
// that it might leave before it had sent everything once, and six peers over 200 ms went from 1.17
// to 1.91; with the conditions of gaps.h, 500 ms: 1.078, 1.107, 1.17.
inline constexpr TimeUs kGapReview = 100 * kMillisecond;
inline constexpr std::uint32_t kGapScanMax = 4096;  // generations looked at in a review, at most
// A neighbour with fewer neighbours than kFewNeighbours times ours is chosen kChoicesForFew choices
// sooner than others, for each of its kind: a single one is not to be every peer's choice. 12
// peers, half of which accept no connections, seed of 8 and 16 Mbit/s: with 0, 8, 16, 32, 64
// choices 1.130, 1.097, 1.086, 1.082, 1.081 and 1.136, 1.127, 1.120, 1.109, 1.101; 100 peers that
// all do: with 0, 8, 16, 32, 64, 200 1.128, 1.116, 1.113, 1.1126, 1.1119, 1.1107 (half of
// them: 1.278, 1.250, 1.235, 1.220, 1.215, 1.210). With parts of 0.6, 0.75, 0.85, 1 100 peers end
// at 1.1132, 1.1126, 1.1134, 1.1127.
inline constexpr double kFewNeighbours = 0.75;
inline constexpr std::uint64_t kChoicesForFew = 32;
inline constexpr TimeUs kPipelineTime = 5 * kMillisecond;  // unsent blocks cover this much
inline constexpr std::uint32_t kPipelineMax = 64;
inline constexpr std::uint32_t kSmallMesh = 24;  // S: up to here the first-hand rule
// A generation of which at most this many rows are missing is open to every relay. 12 peers at
// 8 Mbit/s: with 8 of them 1.31 % redundant, with 4 0.97 %, with none 1.02 %; source gone
// after 1.05 copies: ratio 1.1025, 1.1028, 1.1048.
inline constexpr std::uint32_t kClosing = 4;
inline constexpr std::uint32_t kGapCap = 16;    // S: rank gaps above count as this
inline constexpr std::uint32_t kScanMax = 64;   // eligible generations compared for one decision
inline constexpr std::uint32_t kLookMax = 512;  // generations looked at to find them
inline constexpr int kNullVectorTries = 8;
inline constexpr TimeUs kTakerTime = 10 * kSecond;     // had credit this long and sent nothing
inline constexpr std::uint32_t kOptimisticShare = 32;  // one choice of this many ignores that

// --- stalls ---
inline constexpr TimeUs kStallTime = 500 * kMillisecond;  // S: then a null vector is attached
inline constexpr TimeUs kStallVoid = 4 * kStallTime;      // then claims and leases count no more
inline constexpr std::size_t kNullVectorsKept = 16;       // of one neighbour
inline constexpr TimeUs kRescueTime = 5 * kSecond;        // a rescue source that brings nothing

inline constexpr TimeUs kDepartureInterval = 100 * kMillisecond;  // is it safe to leave?

// --- neighbours ---
inline constexpr TimeUs kStuckTime =
    3 * kSecond;  // a socket that takes nothing is not busy but stuck
inline constexpr TimeUs kStuckPatience = 60 * kSecond;  // and is given up, not before it would
inline constexpr std::uint64_t kStuckRate = 4096;       // drain at this many bytes a second
inline constexpr std::uint32_t kRemotePagesMax = 2048;  // partial generations of one neighbour
// Large meshes: each peer calls half of those wanted, so that with the calls of others the graph is
// a random one of about this degree, and fills up later where few calls came. 300 peers, 32 MiB:
// calling 8 of 16, ratio 1.143 and 2.9 % redundant; 6 of 12, 1.137 and 1.9 %. A tight upper limit
// shuts late comers out: they gather among themselves, and the first, all neighbours of the source,
// stand half idle (100 peers: at most 18 neighbours 1.166, 24 1.150, 32 to 60 1.132 to 1.135).
inline constexpr std::uint32_t kNeighboursWanted = 12;
inline constexpr std::uint32_t kNeighboursMax = 40;  // accept up to here
inline constexpr TimeUs kMeshTime = 3 * kSecond;     // calls of others are waited for this long
inline constexpr std::uint64_t kOpenMin = 4;         // generations open at once, however large n is
inline constexpr std::uint32_t kDialsAtOnce = 8;
inline constexpr TimeUs kRedialFirst = 1 * kSecond;
inline constexpr TimeUs kRedialMax = 60 * kSecond;
inline constexpr TimeUs kUselessTime = 600 * kSecond;  // a useless peer is not called this long
inline constexpr TimeUs kIdleTime =
    120 * kSecond;  // a neighbour that moved no block this long makes room for a newcomer
inline constexpr std::size_t kHistoryMax = 1000;  // past neighbours that a report names
inline constexpr TimeUs kExchangeInterval = 20 * kSecond;
inline constexpr TimeUs kExchangeSlack = 1 * kSecond;
// The first exchange with neighbours that have called us, if there is a peer to tell of; later ones
// come after half of the interval if a peer has come since. 12 peers, half of which accept no
// connections: without a first one 1.226 of the bound, as many of those had not heard of all others
// for 20 s; after 0.3, 0.5, 1 s 1.129, 1.129, 1.130.
inline constexpr TimeUs kExchangeFirst = 1 * kSecond;
inline constexpr TimeUs kHelloTimeout = 10 * kSecond;
inline constexpr std::uint32_t kUsefulnessWindow = 256;  // uselessness is judged over this many
inline constexpr TimeUs kUsefulnessTime = 2 * kSecond;   // blocks and this long, at least

// --- trackers ---
inline constexpr TimeUs kAnnounceIntervalMin = 1 * kSecond;     // whatever a tracker says
inline constexpr TimeUs kAnnounceIntervalMax = 3600 * kSecond;  // or how long it wants to rest
inline constexpr TimeUs kAnnounceRetryFirst = 5 * kSecond;
inline constexpr TimeUs kAnnounceRetryMax = 300 * kSecond;
inline constexpr TimeUs kAnnounceLonely = 10 * kSecond;  // sooner while we have no neighbour
inline constexpr std::uint32_t kAnnouncePeers = 50;

// --- manifest ---
inline constexpr TimeUs kManifestTimeout = 10 * kSecond;   // for the next part
inline constexpr TimeUs kManifestRateMin = 16 << 10;       // bytes a second over all parts
inline constexpr TimeUs kManifestAskAgain = 30 * kSecond;  // the same neighbour
// Parts are as large as a limited uplink carries in a fraction of a second, within bounds.
inline constexpr std::uint64_t kManifestPartsPerSecond = 4;
inline constexpr std::uint64_t kManifestPartMin = 4 << 10;

// --- bans, by number of strikes; not for good, as an honest relay may pass on false rows ---
inline constexpr TimeUs kBanTimes[] = {30 * kSecond, 600 * kSecond, 3600 * kSecond};
inline constexpr std::uint32_t kBansMax = 3;  // further ones take as long as the last

}  // namespace firn::core::policy
