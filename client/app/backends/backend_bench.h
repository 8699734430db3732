// How fast a codec backend serves a peer: from rows in the program's memory to bytes there, with
// all copies on the way. `firn bench gpu` prints it for the GPUs and for the CPU beside them; which
// of the two is larger is the crossover that --codec auto finds while it works.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "codec/backend.h"

namespace firn::app {

struct BackendRate {
  std::string what;          // "encode", "decode"
  std::size_t n = 0, k = 0;  // blocks in a generation, bytes in a block
  std::size_t count = 0;     // rows made, or generations decoded, in one call
  double mb_per_second = 0;  // of payload made or decoded, 10^6 bytes; median of the repeats
  double spread = 0;         // (slowest - fastest) / median
  std::string error;         // what the backend said, if it failed; all figures are 0 then
};

// Random generations of this shape: `rows` coded blocks made of one that is kept, in one call; one
// generation decoded; `generations` decoded in one call. Results are compared with one another.
std::vector<BackendRate> measure_backend(codec::Backend& backend, std::size_t n, std::size_t k,
                                         std::size_t rows, std::size_t generations,
                                         std::size_t repeats);

}  // namespace firn::app
