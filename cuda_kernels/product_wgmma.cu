// The product for n <= 128 on Hopper's binary tensor cores (resident_product.cuh).
#include "cuda_kernels/resident_product.cuh"

namespace firn::cuda {

Status launch_resident_wgmma_product(const ProductJob& job, int multiprocessors, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  return job.n <= 64 ? resident::launch<2, 0>(job, multiprocessors, queue)
                     : resident::launch<1, 0>(job, multiprocessors, queue);
}

}  // namespace firn::cuda
