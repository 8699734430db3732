// The product for n <= 128 on Hopper's binary tensor cores.
#include "cuda_kernels/product/wgmma_resident_columns.cuh"
#include "cuda_kernels/product/wgmma_resident_rows.cuh"

namespace firn::cuda {
namespace {

// From here on the kernel whose data are columns is faster (docs/lab/030).
constexpr int kColumnsSources = 97, kColumnsBytes = 8192;

}  // namespace

Status launch_resident_wgmma_product(const ProductJob& job, int multiprocessors, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  if (job.n >= kColumnsSources && job.k >= kColumnsBytes) {
    return resident_columns::launch(job, multiprocessors, queue);
  }
  switch ((job.n + 31) / 32) {
    case 1:
      return resident::launch<1>(job, multiprocessors, queue);
    case 2:
      return resident::launch<2>(job, multiprocessors, queue);
    case 3:
      return resident::launch<3>(job, multiprocessors, queue);
    default:
      return resident::launch<4>(job, multiprocessors, queue);
  }
}

}  // namespace firn::cuda
