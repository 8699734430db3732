// Constants that several folders of the core use; every other one stands beside the class that uses
// it. Comments on constants say what less and more do. A number in brackets is that of a note in
// docs/lab; note 096 halved and doubled each.
#pragma once

#include "client/core/base/types.h"

namespace firn::core {

// A generation without a new row for this long has stalled: its receiver sends null vectors, a
// source looks for lost rows. Less: vectors for rows that are on their way, +3 % in one cell. More:
// lost rows are found late, +11 % at 40 peers [096].
inline constexpr TimeUs kStallTime = 500 * kMillisecond;
// Then claims and leases of a stalled generation count no more. More: +4 % at 40 peers [096].
inline constexpr TimeUs kStallVoid = 4 * kStallTime;
// A peer without a new row for this long starves: it relaxes its trust rules, drops idle neighbours
// and calls more addresses. Less: polluters gain by silence. More: silent neighbours delay it.
inline constexpr TimeUs kStarvingTime = 5 * kSecond;
// By then a request for check sums counts as unanswered. Less: slow links count as dead. More: dead
// peers hold up rows.
inline constexpr TimeUs kCheckTimeout = 3 * kSecond;
// A peer's offences count for this long against it, and against peers that come from its network
// later (predecessors.h). Less: a peer that waits is forgiven. More: later owners of an address
// pay.
inline constexpr TimeUs kOffenceMemory = 600 * kSecond;
// The slowest State that a slow uplink sends. More: its ranks are old.
inline constexpr TimeUs kStateIntervalMax = 1 * kSecond;
// With more neighbours than this not all are looked at for each choice. More costs CPU alone.
inline constexpr std::size_t kFewToLookAt = 256;
// Generations compared for one decision. Less: worse choices among many; more: CPU.
inline constexpr std::uint32_t kScanMax = 64;
inline constexpr std::uint32_t kLookMax = 512;  // looked at to find those

}  // namespace firn::core
