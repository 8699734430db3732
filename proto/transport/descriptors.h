// Descriptors: connections and files share what the system allows a process to have open. Without
// a bound below that, strangers who merely connect would keep us from opening files.
#pragma once

#include <cstddef>

namespace firn::proto::transport {

// How many descriptors this process may have open now (the soft limit).
std::size_t descriptor_limit();

// Raises the soft limit to `wanted`, or as far as the hard one allows; never lowers it. For main(),
// before there are threads.
void raise_descriptor_limit(std::size_t wanted = 16384);

// How many connections may be taken of the `wanted` ones: at most half the descriptors, the others
// are for files and for what we connect to.
std::size_t connections_within(std::size_t wanted, std::size_t descriptors);

}  // namespace firn::proto::transport
