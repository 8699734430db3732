// The host side of the product: the choice among the kernels, and batches in launches that the
// kernels can take.
#include "cuda_kernels/product/product.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "cuda_kernels/batch/slices.h"
#include "cuda_kernels/choice/tuner.h"
#include "cuda_kernels/product/launch.h"
#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda {
namespace {

// Tiles in one launch; kernels count them in 32 bits. A tile has at least 16 rows or all, and at
// least 64 bytes of each or all, so that one generation is always below.
constexpr std::size_t kTilesMax = std::size_t{1} << 30;

// kBest, or what FIRN_GPU_KERNELS asks for.
Status asked_by_environment(Path& path) {
  const char* forced = std::getenv("FIRN_GPU_KERNELS");
  if (forced == nullptr || *forced == '\0') return {};
  for (const Path known : kPaths) {
    if (name(known) == forced) path = known;
  }
  if (path != Path::kBest) return {};
  return unsupported("FIRN_GPU_KERNELS=" + std::string(forced) +
                     ": not one of tables, mma, wgmma, tower");
}

Status check_path(const Device& device, Path path, bool aligned) {
  if (!has_path(device, path)) {
    std::string there;
    for (const Path known : kPaths) {
      if (has_path(device, known)) there += ' ' + std::string(name(known));
    }
    return unsupported(device.name + " (compute capability " + std::to_string(device.major) + "." +
                       std::to_string(device.minor) + ") cannot multiply by " +
                       std::string(name(path)) + "; it can by:" + there);
  }
  if (path != Path::kTables && !aligned) {
    return unsupported("multiplying by " + std::string(name(path)) +
                       " needs blocks at multiples of 16 bytes");
  }
  return {};
}

std::size_t expanded_each(Path path, std::size_t n, std::size_t m) {
  const int sources = static_cast<int>(n), rows = static_cast<int>(m);
  if (path == Path::kTower) return round_up(tower_bytes(sources, rows), 256);
  if (path != Path::kWgmma || n <= kResidentSizeMax) return 0;
  return round_up(expanded_bytes(sources, rows), 256);
}

// What to launch. `scratch` is what there is for the whole call: where kBest's choice needs more,
// the best is taken that needs none.
Status resolve(const Device& device, const Shape& shape, Path asked, bool aligned,
               std::size_t scratch, ProductChoice& choice) {
  if (asked == Path::kBest) {
    if (Status s = asked_by_environment(asked); !s.ok()) return s;
  }
  if (asked != Path::kBest) {
    choice = {asked, asked == Path::kMma ? mma_row_warps(shape.rows) : 0};
    return check_path(device, asked, aligned);
  }
  choice = aligned ? product_choice(device, shape) : ProductChoice{};
  if (expanded_each(choice.path, shape.generation_size, shape.rows) > scratch) {
    choice = has_path(device, Path::kMma) ? ProductChoice{Path::kMma, mma_row_warps(shape.rows)}
                                          : ProductChoice{};
  }
  return {};
}

Status launch_slice(Stream& stream, const ProductChoice& choice, const ProductJob& job,
                    std::uint8_t* scratch) {
  const int multiprocessors = stream.multiprocessors();
  switch (choice.path) {
    case Path::kMma:
      return launch_mma_product(job, choice.row_warps, stream.handle());
    case Path::kWgmma:
      return job.n <= kResidentSizeMax
                 ? launch_resident_wgmma_product(job, multiprocessors, stream.handle())
                 : launch_streamed_wgmma_product(job, scratch, multiprocessors, stream.handle());
    case Path::kTower:
      return launch_tower_wgmma_product(job, scratch, multiprocessors, stream.handle());
    default:
      return launch_table_product(job, stream.handle());
  }
}

}  // namespace

std::size_t product_scratch_each(const Device& device, const Shape& shape, Path path,
                                 bool aligned) {
  if (!check_shape(shape).ok()) return 0;
  // The choice may depend on how many generations there are, and slices have fewer: enough for all.
  std::size_t most = 0;
  for (const std::size_t generations : {std::size_t{1}, kGenerationsMax}) {
    Shape slice = shape;
    slice.generations = generations;
    ProductChoice choice;
    if (!resolve(device, slice, path, aligned, ~std::size_t{0}, choice).ok()) return 0;
    most = std::max(most, expanded_each(choice.path, shape.generation_size, shape.rows));
  }
  return most;
}

ScratchSize product_scratch(const Device& device, const Shape& shape, Path path) {
  return scratch_for(shape.generations, product_scratch_each(device, shape, path, true));
}

Status launch_chosen(Stream& stream, const Shape& shape, const ProductChoice& choice,
                     const std::uint8_t* coefficients, ConstBlocks source, Blocks out,
                     Scratch scratch) {
  const std::size_t n = shape.generation_size, m = shape.rows, k = shape.block_bytes;
  const std::size_t each = expanded_each(choice.path, n, m);
  const std::size_t tiles_each = ((m + 15) / 16) * ((k + 63) / 64);
  const std::size_t slice = std::min(slice_size(shape.generations, each, scratch.bytes),
                                     std::max<std::size_t>(1, kTilesMax / tiles_each));
  if (slice == 0) return too_little_scratch(each);
  if (Status s = calls::select(stream.device().index); !s.ok()) return s;

  for (std::size_t g = 0; g < shape.generations; g += slice) {
    ProductJob job{};
    job.coefficients = coefficients + g * m * n;
    job.source = source.data + g * n * source.pitch;
    job.out = out.data + g * m * out.pitch;
    job.source_pitch = source.pitch;
    job.out_pitch = out.pitch;
    job.n = static_cast<int>(n), job.m = static_cast<int>(m), job.k = static_cast<int>(k);
    job.generations = static_cast<int>(std::min(slice, shape.generations - g));
    if (Status s = launch_slice(stream, choice, job, scratch.data); !s.ok()) return s;
  }
  return {};
}

Status launch_product(Stream& stream, const Shape& shape, const std::uint8_t* coefficients,
                      ConstBlocks source, Blocks out, Scratch scratch, Path path) {
  if (Status s = check_shape(shape); !s.ok()) return s;
  if (source.pitch < shape.block_bytes || out.pitch < shape.block_bytes) {
    return unsupported("blocks overlap: pitch below size");
  }
  if (shape.generations == 0) return {};
  ProductChoice choice;
  const bool aligned = aligned_blocks(source) && aligned_blocks(out);
  if (Status s = resolve(stream.device(), shape, path, aligned, scratch.bytes, choice); !s.ok()) {
    return s;
  }
  return launch_chosen(stream, shape, choice, coefficients, source, out, scratch);
}

}  // namespace firn::cuda
