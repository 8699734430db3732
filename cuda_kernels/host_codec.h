// Batch operations on data in the host's memory: copy in, compute and copy out overlap, slice by
// slice, so that the bus is busy in both directions. batch.h has the operations and the words.
//
// Host memory should be pinned (PinnedMemory): from other memory everything works, and slower. All
// memory on the device is taken in open().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda_kernels/batch.h"
#include "cuda_kernels/runtime.h"
#include "cuda_kernels/status.h"

namespace firn::cuda {

class HostCodec {
 public:
  // Takes about `device_bytes` on the device. Where there is not so much it takes a half, a quarter
  // and so on down to 1 MiB, and only then says kOutOfMemory. The first open() for a model of
  // device may take a fraction of a second for tune() (tuning.h).
  Status open(const Device& device, std::size_t device_bytes);
  // What open() got.
  std::size_t device_bytes() const { return kSlots * slots_[0].memory.size(); }

  // out[g] = C[g] B[g]. Blocks follow each other without gaps: source has generations * n * k
  // bytes, out generations * m * k, coefficients generations * m * n. Returns when all is done.
  // kOutOfMemory if not even one generation fits into the memory taken.
  Status product(const Shape& shape, const std::uint8_t* coefficients, const std::uint8_t* source,
                 std::uint8_t* out, Path path = Path::kBest);

  // X[g] = C[g]^-1 Y[g], as launch_decode(); all pointers are to host memory. ranks: one for each
  // generation; dependent (may be null): n for each.
  Status decode(const Shape& shape, const std::uint8_t* vectors, const std::uint8_t* payloads,
                std::uint8_t* out, Ranks ranks, Path path = Path::kBest);

 private:
  static constexpr std::size_t kSlots = 3;  // one copied in, one computed, one copied out
  struct Slot {
    Stream stream;
    DeviceMemory memory;
    PinnedMemory found;  // ranks and dependent rows of the slice under way: the caller's memory for
                         // them need not be pinned, and copies to other memory would wait
    std::size_t first = 0, generations = 0;  // that slice
  };
  struct Work;
  Status run(const Work& work);
  Status queue_slice(Slot& slot, const Work& work);
  static Status finish_slice(Slot& slot, const Work& work);

  std::array<Slot, kSlots> slots_;
};

}  // namespace firn::cuda
