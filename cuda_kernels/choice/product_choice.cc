#include "cuda_kernels/choice/product_choice.h"

namespace firn::cuda {

ProductChoice default_choice(const Device& device, const Shape& shape) {
  // By hand, from an H200: wgmma wins wherever its tiles of 32 or 64 rows are half full.
  const std::size_t n = shape.generation_size, m = shape.rows;
  if (has_path(device, Path::kTower) && n > 192 && m >= 128) return {Path::kTower, 0};
  if (has_path(device, Path::kWgmma) && m > 16) return {Path::kWgmma, 0};
  if (has_path(device, Path::kMma)) return {Path::kMma, mma_row_warps(m)};
  return {};
}

}  // namespace firn::cuda
