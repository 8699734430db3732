// The table of row kernels: one small set of functions per instruction set, the best that the CPU
// has chosen once. The scalar set is the specification; all others give the same bytes.
// Their contract (shapes, aliasing) is at struct Kernels in codec/kernels/table.h. Any thread.
#pragma once

#include <span>
#include <string_view>

#include "codec/kernels/table.h"

namespace firn::codec {

// Every set built in that this CPU can run, best first; the last is scalar.
std::span<const Kernels* const> available_kernels();

// The set in use: the best available, or the one that the environment variable FIRN_KERNELS names
// (ignored with no such set; firn itself refuses that at start, see find_kernels).
const Kernels& kernels();

// The available set called `name`, or nullptr if it is unknown or the CPU lacks it.
const Kernels* find_kernels(std::string_view name);

}  // namespace firn::codec
