// Descriptors: connections and files share what the system allows a process to have open. Without
// a bound below that, strangers who merely connect would keep us from opening files.
#pragma once

#include <cstddef>
#include <string>

#include "proto/base/result.h"

namespace firn::proto::transport {

// How many descriptors this process may have open now (the soft limit).
std::size_t descriptor_limit();

// Raises the soft limit to `wanted`, or as far as the hard one allows; never lowers it. For main(),
// before there are threads.
void raise_descriptor_limit(std::size_t wanted = 16384);

// Errors: kBusy (too few may be open for a program of ours to start, which would not get far).
Status have_descriptors_to_start();

// How many connections may be taken of the `wanted` ones: the others of the descriptors, half of
// them or 4096, are for files, commands and what we connect to.
std::size_t connections_within(std::size_t wanted, std::size_t descriptors);
// How many may be open in all, with those that we make: an eighth of the others is for these alone,
// so that strangers who call do not keep us from calling.
std::size_t connections_in_all_within(std::size_t descriptors);
// How many of those others content files that stay open may hold: half. A quarter is for what
// downloads hold, the rest for all else: commands, databases, hooks, and what is open briefly.
std::size_t open_files_within(std::size_t descriptors);
std::size_t downloads_within(std::size_t descriptors);
// The descriptors that so many connections take, so that connections_within() allows all of them.
std::size_t descriptors_for(std::size_t connections);
// Raises the soft limit as far as so many connections take. Errors: kBadInput (the hard limit
// forbids it); `what` asked for them.
Status make_room_for_connections(std::size_t connections, const std::string& what);

}  // namespace firn::proto::transport
