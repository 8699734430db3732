// The kinds of kernels that multiply.
#pragma once

#include <string_view>

#include "cuda_kernels/runtime/device.h"

namespace firn::cuda {

// Which kernel multiplies. kBest takes the kernel that choice/tuner.h calls the fastest, unless
// the environment's FIRN_GPU_KERNELS names a path. A path that the device or the alignment does not
// allow is refused, with words that say which paths there are. All but the tables want rows 16-byte
// aligned (pointers and pitches).
enum class Path {
  kBest,
  kTables,  // products looked up in tables in shared memory: every device, any alignment
  kMma,     // binary tensor cores by mma.sync: Ampere, Ada, Hopper
  kWgmma,   // binary tensor cores by wgmma: Hopper
  kTower,   // the same by three products in GF(2^4) for each of bytes: for large n
};
inline constexpr Path kPaths[] = {Path::kTables, Path::kMma, Path::kWgmma, Path::kTower};

std::string_view name(Path path);
bool has_path(const Device& device, Path path);

}  // namespace firn::cuda
