// Decoding, which is an inversion and a product, and coefficients.
#include "cuda_kernels/batch/batch.h"

#include <algorithm>

#include "cuda_kernels/batch/coefficients.h"
#include "cuda_kernels/batch/slices.h"
#include "cuda_kernels/inverse/inverse.h"
#include "cuda_kernels/product/product.h"
#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda {
namespace {

// Scratch of one generation's decoding: its inverse, and then room that inversion and product use
// one after the other.
std::size_t decode_each(const Device& device, const Shape& shape, Path path, bool aligned) {
  const std::size_t n = shape.generation_size;
  Shape square = shape;
  square.rows = n;
  return round_up(n * n, 256) +
         std::max(inverse_scratch_each(n), product_scratch_each(device, square, path, aligned));
}

}  // namespace

ScratchSize decode_scratch(const Device& device, const Shape& shape, Path path) {
  if (!check_size(shape.generation_size).ok()) return {};
  return scratch_for(shape.generations, decode_each(device, shape, path, true));
}

Status launch_decode(Stream& stream, const Shape& shape, const std::uint8_t* vectors,
                     ConstBlocks payloads, Blocks out, Ranks ranks, Scratch scratch, Path path) {
  Shape part = shape;
  const std::size_t n = part.rows = shape.generation_size;
  if (Status s = check_shape(part); !s.ok()) return s;
  if (shape.generations == 0) return {};
  if (ranks.ranks == nullptr) return unsupported("no memory for the ranks");
  const bool aligned = aligned_blocks(payloads) && aligned_blocks(out);
  const std::size_t each = decode_each(stream.device(), part, path, aligned);
  const std::size_t slice = slice_size(shape.generations, each, scratch.bytes);
  if (slice == 0) return too_little_scratch(each);

  const std::size_t inverse_bytes = round_up(slice * n * n, 256);
  const Scratch work{scratch.data + inverse_bytes, scratch.bytes - inverse_bytes};
  for (std::size_t g = 0; g < shape.generations; g += slice) {
    part.generations = std::min(slice, shape.generations - g);
    const Ranks found{ranks.ranks + g,
                      ranks.dependent == nullptr ? nullptr : ranks.dependent + g * n};
    Status s =
        launch_inverse(stream, part.generations, n, vectors + g * n * n, scratch.data, found, work);
    if (!s.ok()) return s;
    s = launch_product(stream, part, scratch.data,
                       {payloads.data + g * n * payloads.pitch, payloads.pitch},
                       {out.data + g * n * out.pitch, out.pitch}, work, path);
    if (!s.ok()) return s;
  }
  return {};
}

Status launch_coefficients(Stream& stream, std::uint64_t seed, std::uint64_t first_stream,
                           std::uint64_t position, std::size_t generations, std::size_t bytes,
                           std::uint8_t* out) {
  if (position % 64 != 0) return unsupported("coefficients start at a multiple of 64 bytes");
  if (generations == 0 || bytes == 0) return {};
  if (Status s = calls::select(stream.device().index); !s.ok()) return s;
  return launch_coefficient_fill({seed, first_stream, position / 64, generations, bytes, out},
                                 stream.handle());
}

}  // namespace firn::cuda
