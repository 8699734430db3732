// The table of row kernels: one small set of functions per instruction set, the best that the CPU
// has chosen once. The scalar set is the specification; all others give the same bytes.
// Their contract (shapes, aliasing) is at struct Kernels in codec/kernels/table.h. Any thread.
#pragma once

#include <span>
#include <string_view>

#include "codec/kernels/check_table.h"
#include "codec/kernels/lattice_table.h"
#include "codec/kernels/table.h"

namespace firn::codec {

// Every set built in that this CPU can run, best first; the last is scalar.
std::span<const Kernels* const> available_kernels();

// The set in use: the best available, or the one that the environment variable FIRN_KERNELS names
// (ignored with no such set; firn itself refuses that at start, see find_kernels).
const Kernels& kernels();

// The available set called `name`, or nullptr if it is unknown or the CPU lacks it.
const Kernels* find_kernels(std::string_view name);

// The kernels for block checks (struct CheckKernels in codec/kernels/check_table.h) that go with a
// set: the best that need no wider vectors than it. Several sets share one, as what checks need
// (carry-less products) is not what products need.
const CheckKernels& check_kernels(const Kernels& set = kernels());

// Every one of them that this CPU can run, best first; the last is scalar.
std::span<const CheckKernels* const> available_check_kernels();

// The same for the kernels of the synchronisation decoder (struct LatticeKernels in
// codec/kernels/lattice_table.h).
const LatticeKernels& lattice_kernels(const Kernels& set = kernels());
std::span<const LatticeKernels* const> available_lattice_kernels();

}  // namespace firn::codec
