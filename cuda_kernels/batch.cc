#include "cuda_kernels/batch.h"

#include <algorithm>

#include "cuda_kernels/cuda_check.h"
#include "cuda_kernels/kernels.h"

namespace firn::cuda {
namespace {

// Tiles in one launch; kernels count them in 32 bits. A tile has at least 64 rows or all, and at
// least 256 bytes of each or all, so that one generation is always below.
constexpr std::size_t kTilesMax = std::size_t{1} << 30;
// Generations in one launch: a grid's y and z end at 65535.
constexpr std::size_t kGenerationsMax = 32768;
// Scratch memory beyond this makes nothing faster: slices of this size fill a device.
constexpr std::size_t kScratchEnough = std::size_t{512} << 20;

std::size_t round_up(std::size_t value, std::size_t to) {
  return (value + to - 1) / to * to;
}

bool aligned_blocks(ConstBlocks blocks) {
  return (reinterpret_cast<std::uintptr_t>(blocks.data) | blocks.pitch) % 16 == 0;
}

// Bytes of scratch for `generations`, of which each takes `each`: all at once, or a fair slice.
ScratchSize scratch_for(std::size_t generations, std::size_t each) {
  if (generations == 0 || each == 0) return {};
  const std::size_t at_once =
      std::min(generations, std::max<std::size_t>(1, kScratchEnough / each));
  return {round_up(each, 256), round_up(each, 256) * at_once};
}

Status check_size(std::size_t n) {
  if (n >= 1 && n <= kGenerationSizeMax) return {};
  return bad_argument("a generation has 1 to 1024 blocks, not " + std::to_string(n));
}

Status check_shape(const Shape& shape) {
  if (Status s = check_size(shape.generation_size); !s.ok()) return s;
  if (shape.rows < 1 || shape.rows > kRowsMax) return bad_argument("number of rows out of range");
  if (shape.block_bytes < 1 || shape.block_bytes > kBlockBytesMax) {
    return bad_argument("block size out of range");
  }
  return {};
}

// The path to take, or kBest if the one asked for cannot be taken.
Path resolve(Path asked, const Device& device, bool aligned) {
  const bool wgmma = device.has_binary_wgmma() && aligned;
  if (asked == Path::kBest) return wgmma ? Path::kWgmma : Path::kTables;
  return asked == Path::kWgmma && !wgmma ? Path::kBest : asked;
}

std::size_t expanded_each(Path path, std::size_t n, std::size_t m) {
  if (path != Path::kWgmma || n <= kResidentSizeMax) return 0;
  return round_up(expanded_bytes(static_cast<int>(n), static_cast<int>(m)), 256);
}

std::size_t inverse_work_each(std::size_t n) {
  return n <= kSmallInverseMax ? 0 : panel_work_bytes(static_cast<int>(n));
}

// How many generations go into one launch if each takes `each` bytes of scratch; 0 if not even one.
std::size_t slice_size(std::size_t generations, std::size_t each, std::size_t scratch_bytes) {
  std::size_t slice = std::min(generations, kGenerationsMax);
  if (each > 0) slice = std::min(slice, scratch_bytes / each);
  return slice;
}

Status too_little_scratch(std::size_t each) {
  return bad_argument("scratch memory: a generation needs " + std::to_string(each) + " bytes");
}

Status launch_slice(Stream& stream, Path path, const ProductJob& job, std::uint8_t* scratch) {
  if (path == Path::kTables) return launch_table_product(job, stream.handle());
  const int multiprocessors = stream.device().multiprocessors;
  if (job.n <= kResidentSizeMax) {
    return launch_resident_wgmma_product(job, multiprocessors, stream.handle());
  }
  return launch_streamed_wgmma_product(job, scratch, multiprocessors, stream.handle());
}

}  // namespace

std::string_view name(Path path) {
  switch (path) {
    case Path::kBest:
      return "best";
    case Path::kTables:
      return "tables";
    case Path::kWgmma:
      return "wgmma";
  }
  return "unknown";
}

ScratchSize product_scratch(const Device& device, const Shape& shape, Path path) {
  if (!check_shape(shape).ok()) return {};
  const std::size_t each =
      expanded_each(resolve(path, device, true), shape.generation_size, shape.rows);
  return scratch_for(shape.generations, each);
}

Status launch_product(Stream& stream, const Shape& shape, const std::uint8_t* coefficients,
                      ConstBlocks source, Blocks out, Scratch scratch, Path path) {
  if (Status s = check_shape(shape); !s.ok()) return s;
  const std::size_t n = shape.generation_size, m = shape.rows, k = shape.block_bytes;
  if (source.pitch < k || out.pitch < k) return bad_argument("blocks overlap: pitch below size");
  if (shape.generations == 0) return {};
  const Path taken = resolve(path, stream.device(), aligned_blocks(source) && aligned_blocks(out));
  if (taken == Path::kBest) return bad_argument("device or alignment do not allow this path");
  const std::size_t each = expanded_each(taken, n, m);
  const std::size_t tiles_each = ((m + 63) / 64) * ((k + 255) / 256);
  const std::size_t slice = std::min(slice_size(shape.generations, each, scratch.bytes),
                                     std::max<std::size_t>(1, kTilesMax / tiles_each));
  if (slice == 0) return too_little_scratch(each);
  if (Status s = select(stream.device().index); !s.ok()) return s;

  for (std::size_t g = 0; g < shape.generations; g += slice) {
    ProductJob job{};
    job.coefficients = coefficients + g * m * n;
    job.source = source.data + g * n * source.pitch;
    job.out = out.data + g * m * out.pitch;
    job.source_pitch = source.pitch;
    job.out_pitch = out.pitch;
    job.n = static_cast<int>(n), job.m = static_cast<int>(m), job.k = static_cast<int>(k);
    job.generations = static_cast<int>(std::min(slice, shape.generations - g));
    if (Status s = launch_slice(stream, taken, job, scratch.data); !s.ok()) return s;
  }
  return {};
}

ScratchSize inverse_scratch(const Device&, std::size_t generations, std::size_t generation_size) {
  if (!check_size(generation_size).ok()) return {};
  return scratch_for(generations, inverse_work_each(generation_size));
}

Status launch_inverse(Stream& stream, std::size_t generations, std::size_t generation_size,
                      const std::uint8_t* matrices, std::uint8_t* inverses, Ranks ranks,
                      Scratch scratch) {
  const std::size_t n = generation_size;
  if (Status s = check_size(n); !s.ok()) return s;
  if (generations == 0) return {};
  if (ranks.ranks == nullptr) return bad_argument("no memory for the ranks");
  const std::size_t each = inverse_work_each(n);
  const std::size_t slice = slice_size(generations, each, scratch.bytes);
  if (slice == 0) return too_little_scratch(each);
  if (Status s = select(stream.device().index); !s.ok()) return s;

  for (std::size_t g = 0; g < generations; g += slice) {
    InverseJob job{};
    job.matrices = matrices + g * n * n;
    job.inverses = inverses + g * n * n;
    job.ranks = ranks.ranks + g;
    job.dependent = ranks.dependent == nullptr ? nullptr : ranks.dependent + g * n;
    job.n = static_cast<int>(n);
    job.generations = static_cast<int>(std::min(slice, generations - g));
    const Status s = n <= kSmallInverseMax
                         ? launch_small_inverse(job, stream.handle())
                         : launch_panel_inverse(job, scratch.data, stream.handle());
    if (!s.ok()) return s;
  }
  return {};
}

namespace {

// Scratch of one generation's decoding: its inverse, and then room that inversion and product use
// one after the other.
std::size_t decode_each(const Device& device, std::size_t n, Path path, bool aligned) {
  const std::size_t expanded = expanded_each(resolve(path, device, aligned), n, n);
  return round_up(n * n, 256) + std::max(inverse_work_each(n), expanded);
}

}  // namespace

ScratchSize decode_scratch(const Device& device, const Shape& shape, Path path) {
  if (!check_size(shape.generation_size).ok()) return {};
  return scratch_for(shape.generations, decode_each(device, shape.generation_size, path, true));
}

Status launch_decode(Stream& stream, const Shape& shape, const std::uint8_t* vectors,
                     ConstBlocks payloads, Blocks out, Ranks ranks, Scratch scratch, Path path) {
  Shape part = shape;
  const std::size_t n = part.rows = shape.generation_size;
  if (Status s = check_shape(part); !s.ok()) return s;
  if (shape.generations == 0) return {};
  if (ranks.ranks == nullptr) return bad_argument("no memory for the ranks");
  const bool aligned = aligned_blocks(payloads) && aligned_blocks(out);
  const std::size_t each = decode_each(stream.device(), n, path, aligned);
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
  if (position % 64 != 0) return bad_argument("coefficients start at a multiple of 64 bytes");
  if (generations == 0 || bytes == 0) return {};
  if (Status s = select(stream.device().index); !s.ok()) return s;
  return launch_coefficient_fill({seed, first_stream, position / 64, generations, bytes, out},
                                 stream.handle());
}

}  // namespace firn::cuda
