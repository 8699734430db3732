#include "left_out.h"

#include "left_out_columns.cuh"
#include "left_out_rows.cuh"

namespace firn::cuda {
namespace {

template <unsigned kLeftOut>
Status launch_either(const ProductJob& job, int multiprocessors, cudaStream_t stream) {
  return job.n <= 64 ? resident::launch_partial<2, kLeftOut>(job, multiprocessors, stream)
                     : resident_columns::launch_partial<kLeftOut>(job, multiprocessors, stream);
}

}  // namespace

std::string_view words_for(LeftOut what) {
  switch (what) {
    case LeftOut::kNothing:
      return "nothing";
    case LeftOut::kLoads:
      return "loads";
    case LeftOut::kStores:
      return "stores";
    case LeftOut::kBoth:
      return "loads and stores";
    case LeftOut::kParities:
      return "parities";
    case LeftOut::kBringing:
      return "bringing data, and stores";
    case LeftOut::kAllButProducts:
      return "all but products";
  }
  return "unknown";
}

Status launch_left_out(Stream& stream, const Shape& shape, const std::uint8_t* coefficients,
                       ConstBlocks source, Blocks out, LeftOut what) {
  ProductJob job{};
  job.coefficients = coefficients;
  job.source = source.data, job.source_pitch = source.pitch;
  job.out = out.data, job.out_pitch = out.pitch;
  job.n = static_cast<int>(shape.generation_size), job.m = static_cast<int>(shape.rows);
  job.k = static_cast<int>(shape.block_bytes);
  job.generations = static_cast<int>(shape.generations);
  const int multiprocessors = stream.device().multiprocessors;
  const auto queue = static_cast<cudaStream_t>(stream.handle());
  switch (what) {
    case LeftOut::kNothing:
      return launch_either<0>(job, multiprocessors, queue);
    case LeftOut::kLoads:
      return launch_either<kLoads>(job, multiprocessors, queue);
    case LeftOut::kStores:
      return launch_either<kStores>(job, multiprocessors, queue);
    case LeftOut::kBoth:
      return launch_either<kLoads | kStores>(job, multiprocessors, queue);
    case LeftOut::kParities:
      return launch_either<kParities>(job, multiprocessors, queue);
    case LeftOut::kBringing:
      return launch_either<kBringing | kStores>(job, multiprocessors, queue);
    case LeftOut::kAllButProducts:
      return launch_either<kBringing | kParities | kStores>(job, multiprocessors, queue);
  }
  return unsupported("no such part");
}

}  // namespace firn::cuda
