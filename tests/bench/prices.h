// What single events of a transfer cost at least on this machine: times how often they happened
// (--profile counts them), they are floors of stages that no amount of bytes tells.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

namespace firn {

// The default shape of a content: blocks of a generation, bytes of a block.
inline constexpr std::size_t kN = 64;
inline constexpr std::size_t kBlockBytes = 16384;

// {"wake_up_signal": ns, ...}, processor time:
//   wake_up_signal     another thread that sleeps is told that there is work (eventfd)
//   wake_up_wait       falling asleep until that comes, and waking up (epoll, eventfd)
//   page_fault         the first write to a page of 4 KiB, which the kernel fills with zeros
//   stage              a stage of a StageClock entered and left
//   block_parse, block_serialize   one block message, its payload apart; dense, n = 64, k = 16 KiB
//   payload            the memory of a block's payload taken and given back
//   vector             a random coding vector brought to reduced form, n = 64
nlohmann::ordered_json measure_prices();

double thread_cpu_seconds();

}  // namespace firn
