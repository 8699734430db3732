// The host side of the inversion: batches in launches that the kernels can take.
#include "cuda_kernels/inverse/inverse.h"

#include <algorithm>

#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/batch/slices.h"
#include "cuda_kernels/inverse/launch.h"
#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda {

std::size_t inverse_scratch_each(std::size_t n) {
  return n <= kSmallInverseMax ? 0 : panel_work_bytes(static_cast<int>(n));
}

ScratchSize inverse_scratch(const Device&, std::size_t generations, std::size_t generation_size) {
  if (!check_size(generation_size).ok()) return {};
  return scratch_for(generations, inverse_scratch_each(generation_size));
}

Status launch_inverse(Stream& stream, std::size_t generations, std::size_t generation_size,
                      const std::uint8_t* matrices, std::uint8_t* inverses, Ranks ranks,
                      Scratch scratch) {
  const std::size_t n = generation_size;
  if (Status s = check_size(n); !s.ok()) return s;
  if (generations == 0) return {};
  if (ranks.ranks == nullptr) return unsupported("no memory for the ranks");
  const std::size_t each = inverse_scratch_each(n);
  const std::size_t slice = slice_size(generations, each, scratch.bytes);
  if (slice == 0) return too_little_scratch(each);
  if (Status s = calls::select(stream.device().index); !s.ok()) return s;

  for (std::size_t g = 0; g < generations; g += slice) {
    InverseJob job{};
    job.matrices = matrices + g * n * n;
    job.inverses = inverses + g * n * n;
    job.ranks = ranks.ranks + g;
    job.dependent = ranks.dependent == nullptr ? nullptr : ranks.dependent + g * n;
    job.n = static_cast<int>(n);
    job.generations = static_cast<int>(std::min(slice, generations - g));
    const Status s = n <= kSmallInverseMax
                         ? launch_small_inverse(job, stream.handle())
                         : launch_panel_inverse(job, scratch.data, stream.handle());
    if (!s.ok()) return s;
  }
  return {};
}

}  // namespace firn::cuda
