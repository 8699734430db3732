// Float kernels for channels that flip no bits, n <= kRegisterBitsMax.
#include "cuda_kernels/sync/kernel.cuh"

namespace firn::cuda::sync {

Status launch_without_flips(const Job& job, void* stream, int* resident) {
  return launch_for_bits<false>(job, stream, resident);
}

}  // namespace firn::cuda::sync
