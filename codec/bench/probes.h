// Single questions about this machine and the codec's choices, beside the benchmark proper
// (bench_codec --probe NAME; answers in docs/lab/025, 026 and 038).
#pragma once

#include <string_view>

#include "codec/bench/bench.h"

namespace firn::codec::bench {

// False if there is no probe of that name. Of `options` only repeats, sample_seconds, threads and
// shapes are used.
//   checks    the hash of block checks beside plain reading and registers alone
//   levels    the product with 0 to 3 levels of Strassen's algorithm: which of them pay
//   span      coding vectors brought to reduced form as they arrive, one after the other
//   threads   registers alone on threads bound to a CPU each, one at a time and at once: whether
//             the CPUs are cores; and what starting a run costs a pool that watches and one that
//             sleeps
bool probe(std::string_view name, const Options& options, Report& report);

}  // namespace firn::codec::bench
