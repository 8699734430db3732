// The product for n <= 128 on Hopper's binary tensor cores (resident_product.cuh).
#include "cuda_kernels/resident_product.cuh"

namespace firn::cuda {

Status launch_resident_wgmma_product(const ProductJob& job, int multiprocessors, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  switch ((job.n + 31) / 32) {
    case 1:
      return resident::launch<1, 0>(job, multiprocessors, queue);
    case 2:
      return resident::launch<2, 0>(job, multiprocessors, queue);
    case 3:
      return resident::launch<3, 0>(job, multiprocessors, queue);
    default:
      return resident::launch<4, 0>(job, multiprocessors, queue);
  }
}

}  // namespace firn::cuda
