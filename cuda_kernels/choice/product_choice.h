// A kernel that multiplies with its launch parameter, and the choice that a device's properties
// suggest.
#pragma once

#include <cstddef>

#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/product/path.h"

namespace firn::cuda {

struct ProductChoice {
  Path path = Path::kTables;
  int row_warps = 0;  // kMma: 2, 4 or 8 (product/launch.h); others: 0

  bool operator==(const ProductChoice&) const = default;
};

// kMma's launch parameter that wastes fewest rows.
constexpr int mma_row_warps(std::size_t rows) {
  return rows <= 16 ? 2 : rows <= 32 ? 4 : 8;
}

// What the device's properties say. Any thread.
ProductChoice default_choice(const Device& device, const Shape& shape);

}  // namespace firn::cuda
