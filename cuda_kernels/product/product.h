// Internal: the host side of the product, below launch_product() (batch/batch.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/choice/product_choice.h"

namespace firn::cuda {

// Bytes of scratch that one generation takes in a product, whether it comes alone or with others.
std::size_t product_scratch_each(const Device& device, const Shape& shape, Path path, bool aligned);

// The product by one kernel. Arguments are those of launch_product(), checked.
Status launch_chosen(Stream& stream, const Shape& shape, const ProductChoice& choice,
                     const std::uint8_t* coefficients, ConstBlocks source, Blocks out,
                     Scratch scratch);

}  // namespace firn::cuda
