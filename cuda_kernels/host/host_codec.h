// Batch operations on data in the host's memory: copy in, compute and copy out overlap, slice by
// slice, so that the bus is busy in both directions. Decoding inverts groups of matrices ahead of
// the payloads, on streams of their own that go before the products: an inversion is many short
// steps, of which each would wait for a product to end. batch/batch.h has the operations and the
// terms.
//
// Host memory should be pinned (PinnedMemory): from other memory everything works, and slower. All
// memory on the device is taken in open().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/status.h"
#include "cuda_kernels/runtime/stream.h"

namespace firn::cuda {

class HostCodec {
 public:
  // Takes about `device_bytes` on the device. Where less is free it takes a half, a quarter
  // and so on down to 1 MiB, and only then says kOutOfMemory. The first open() for a model of
  // device may take a fraction of a second for tune() (choice/tuner.h).
  Status open(const Device& device, std::size_t device_bytes);
  // What open() got.
  std::size_t device_bytes() const { return memory_.size(); }

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
  static constexpr std::size_t kSlots = 12, kAreas = 6;  // at most; fewer where memory is short
  // A slice of generations under way: copied in, multiplied, copied out.
  struct Slot {
    Stream stream;
    std::size_t generations = 0;  // 0: nothing under way
  };
  // A group of matrices, and their inverses until their slices are done.
  struct Area {
    Stream stream;
    Event inverted;
    PinnedMemory found;  // ranks and dependent rows: the caller's memory for them need not be
                         // pinned, and copies to other memory would wait
    std::size_t first = 0, generations = 0;  // likewise
  };
  struct Work;
  struct Plan;
  Status make_plan(const Work& work, Plan& plan) const;
  Status run(const Work& work);
  Status invert_ahead(const Work& work, const Plan& plan, std::size_t done, std::size_t most,
                      std::size_t& inverted);
  Status queue_inversion(Area& area, const Work& work, const Plan& plan, std::uint8_t* memory);
  Status queue_slice(Slot& slot, const Work& work, const Plan& plan, std::size_t first,
                     std::uint8_t* memory);
  static Status finish(Slot& slot);
  static Status finish(Area& area, const Work& work);

  std::array<Slot, kSlots> slots_;
  std::array<Area, kAreas> areas_;
  DeviceMemory memory_;
};

}  // namespace firn::cuda
