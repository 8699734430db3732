// Float kernels for channels that flip bits as well, n <= kRegisterBitsMax.
#include "cuda_kernels/sync/kernel.cuh"

namespace firn::cuda::sync {

Status launch_with_flips(const Job& job, void* stream, int* resident) {
  return launch_for_bits<true>(job, stream, resident);
}

}  // namespace firn::cuda::sync
