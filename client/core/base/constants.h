// What several rooms of the core go by; every other constant stands beside the class that uses it.
// Comments on constants say what less and more do. A number in brackets is that of a note in
// docs/lab; [096] halved and doubled each.
#pragma once

#include "client/core/base/types.h"

namespace firn::core {

// A generation stands still for so long: null vectors go out, lost rows are looked for.
// Less: vectors for rows that are on their way (+3 %). More: gaps stay (+11 % at 40 peers) [096].
inline constexpr TimeUs kStallTime = 500 * kMillisecond;
// Then claims and leases of a standing generation count no more. More: +4 % at 40 peers [096].
inline constexpr TimeUs kStallVoid = 4 * kStallTime;
// Starving, that is no new row for so long: trust rules relax, idle neighbours are dropped, more
// addresses called. Less: polluters gain by silence. More: silent neighbours delay us.
inline constexpr TimeUs kStarvingTime = 5 * kSecond;
// A request counts as unanswered. Less: slow links count as dead. More: dead peers hold up rows.
inline constexpr TimeUs kCheckTimeout = 3 * kSecond;
// So long it counts what a peer did: against it, and those that come from its network after it
// (predecessors.h). Less: who waits is forgiven; more: later owners of an address pay.
inline constexpr TimeUs kOffenceMemory = 600 * kSecond;
// The slowest State that a slow uplink sends. More: its ranks are old.
inline constexpr TimeUs kStateIntervalMax = 1 * kSecond;
// With more neighbours than this not all are looked at for each choice. More costs CPU alone.
inline constexpr std::size_t kFewToLookAt = 256;
// Generations compared for one decision. Less: worse choices among many; more: CPU.
inline constexpr std::uint32_t kScanMax = 64;
inline constexpr std::uint32_t kLookMax = 512;  // looked at to find those

}  // namespace firn::core
