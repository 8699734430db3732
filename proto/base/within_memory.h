// Where memory cannot be had (a limit of the process, a system that promises no more than it has),
// what needs it fails with an error, and the rest goes on.
#pragma once

#include <new>
#include <string>

#include "proto/base/result.h"

namespace firn {

inline Error no_memory(std::string operation) {
  return {ErrorCode::kBusy, std::move(operation),
          "the system has no memory left for it (see ulimit -v, MemoryMax=, "
          "vm.overcommit_memory)"};
}

// What `work` returns, a Result; kBusy if it finds no memory.
template <typename Work>
auto within_memory(const std::string& operation, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return no_memory(operation);
  }
}

}  // namespace firn
