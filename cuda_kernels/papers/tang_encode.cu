// Tang, 3.2 and 4.1: encoding with a thread for each fragment of a coded block, 512 threads a block
// (Fig. 3). tang_fragment.cuh says how products are read.
#include "cuda_kernels/papers/grid.cuh"
#include "cuda_kernels/papers/launch.h"
#include "cuda_kernels/papers/tang_fragment.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

constexpr int kThreads = 512;

// The paper's "Frag".
template <class Fragment>
__device__ __forceinline__ void encode_fragment(const Job& job) {
  using Data = typename Fragment::Data;
  const unsigned fragments = job.k / sizeof(Data);
  const unsigned row = thread_of_grid() / fragments, at = thread_of_grid() % fragments;
  if (row >= static_cast<unsigned>(job.m)) return;
  const SegmentView segment = segment_of(job, blockIdx.y);
  const std::uint8_t* vector = segment.coefficients + row * segment.pitch;
  const auto* blocks = reinterpret_cast<const Data*>(segment.blocks) + at;
  Fragment sum;
  for (int j = 0; j < job.n; ++j) sum.add(blocks[std::size_t(j) * fragments], vector[j]);
  reinterpret_cast<Data*>(segment.out)[std::size_t{row} * fragments + at] = sum.result();
}

__global__ void __launch_bounds__(kThreads) tang_encode_fragment1(Job job) {
  encode_fragment<Fragment1>(job);
}
__global__ void __launch_bounds__(kThreads) tang_encode_fragment2(Job job) {
  encode_fragment<Fragment2>(job);
}
__global__ void __launch_bounds__(kThreads) tang_encode_fragment4(Job job) {
  encode_fragment<Fragment4>(job);
}

// The paper's "Frag+Opt": source fragments are loaded to shared memory, where the block's threads
// share them; results wait there too and leave together. A block makes 8 coded blocks' 64
// fragments.
constexpr int kTileRows = 8, kTileFragments = 64, kTileSources = 32;

struct Tile {
  std::uint16_t source[kTileSources][kTileFragments];
  std::uint8_t vector[kTileRows][kTileSources];
};

// Sources first..first+31 and their coefficients; zeros outside the matrices.
__device__ __forceinline__ void load_tile(Tile& tile, const Job& job, const SegmentView& segment,
                                          int first_row, int first_fragment, int first) {
  const int fragments = job.k / 2, me = threadIdx.x;
  const auto* blocks = reinterpret_cast<const std::uint16_t*>(segment.blocks);
  for (int i = me; i < kTileSources * kTileFragments; i += kThreads) {
    const int j = first + i / kTileFragments, at = first_fragment + i % kTileFragments;
    tile.source[i / kTileFragments][i % kTileFragments] =
        j < job.n && at < fragments ? blocks[std::size_t(j) * fragments + at] : 0;
  }
  for (int i = me; i < kTileRows * kTileSources; i += kThreads) {
    const int row = first_row + i / kTileSources, j = first + i % kTileSources;
    tile.vector[i / kTileSources][i % kTileSources] =
        row < job.m && j < job.n ? segment.coefficients[std::size_t(row) * segment.pitch + j] : 0;
  }
}

__global__ void __launch_bounds__(kThreads) tang_encode_fragment2_shared(Job job, int strips) {
  __shared__ Tile tile;
  __shared__ std::uint16_t results[kTileRows][kTileFragments];
  const SegmentView segment = segment_of(job, blockIdx.y);
  const int first_row = static_cast<int>(blockIdx.x) / strips * kTileRows;
  const int first_fragment = static_cast<int>(blockIdx.x) % strips * kTileFragments;
  const int row = static_cast<int>(threadIdx.x) / kTileFragments;
  const int at = static_cast<int>(threadIdx.x) % kTileFragments, fragments = job.k / 2;
  Fragment2 sum;
  for (int first = 0; first < job.n; first += kTileSources) {
    load_tile(tile, job, segment, first_row, first_fragment, first);
    __syncthreads();
    for (int j = 0; j < kTileSources; ++j) sum.add(tile.source[j][at], tile.vector[row][j]);
    __syncthreads();
  }
  results[row][at] = sum.result();
  __syncthreads();
  if (first_row + row < job.m && first_fragment + at < fragments) {
    reinterpret_cast<std::uint16_t*>(
        segment.out)[std::size_t(first_row + row) * fragments + first_fragment + at] =
        results[row][at];
  }
}

Status launch(Context& context, const Job& job, int fragment_bytes, void (*kernel)(Job),
              const char* name) {
  const std::size_t fragments = std::size_t(job.m) * (job.k / fragment_bytes);
  kernel<<<grid_for(job, fragments, kThreads), kThreads, 0,
           static_cast<cudaStream_t>(context.stream().handle())>>>(job);
  return launched(name);
}

}  // namespace

Status encode_fragment1(Context& context, const Job& job) {
  return launch(context, job, 1, tang_encode_fragment1, "tang_encode_fragment1");
}
Status encode_fragment2(Context& context, const Job& job) {
  return launch(context, job, 2, tang_encode_fragment2, "tang_encode_fragment2");
}
Status encode_fragment4(Context& context, const Job& job) {
  return launch(context, job, 4, tang_encode_fragment4, "tang_encode_fragment4");
}

Status encode_fragment2_shared(Context& context, const Job& job) {
  const int strips = static_cast<int>(blocks_for(job.k / 2, kTileFragments));
  const dim3 grid(strips * blocks_for(job.m, kTileRows), job.segments);
  tang_encode_fragment2_shared<<<grid, kThreads, 0,
                                 static_cast<cudaStream_t>(context.stream().handle())>>>(job,
                                                                                         strips);
  return launched("tang_encode_fragment2_shared");
}

}  // namespace firn::cuda::papers
