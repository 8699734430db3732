// Kernels with a lattice column in shared memory, for any codeword and any channel: float for those
// that registers do not take, double for frames that float lost.
#include "cuda_kernels/sync/kernel.cuh"

namespace firn::cuda::sync {

Status launch_any_codeword(const Job& job, void* stream, int* resident) {
  return launch_kernel<SharedColumn<float>>(job, false, stream, resident);
}

Status launch_double(const Job& job, bool redo, void* stream, int* resident) {
  return launch_kernel<SharedColumn<double>>(job, redo, stream, resident);
}

}  // namespace firn::cuda::sync
