// What a process takes, as /proc tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace firn::load {

struct ProcessUse {
  double cpu_seconds = 0;
  std::uint64_t resident_bytes = 0;
};

// nullopt: there is no such process.
std::optional<ProcessUse> process_use(int pid);

// Of all TCP sockets of this machine, the seed's and the receivers': bytes that wait in them.
std::uint64_t tcp_memory_bytes();

}  // namespace firn::load
