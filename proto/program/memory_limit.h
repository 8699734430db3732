// How much memory the system lets this process have: the limit of its control group, which a
// container, a service's unit or a cluster's task has, or of a group above it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace firn {

// nullopt: there is none, or it cannot be read.
std::optional<std::uint64_t> memory_limit();

// The same, of a process whose /proc/self/cgroup is `groups`, with the control groups mounted at
// `mounted`. Version 1 and 2.
std::optional<std::uint64_t> memory_limit_of(const std::string& groups, const std::string& mounted);

}  // namespace firn
