// Tang, 3.3 and 4.3: decoding with the host's help. The host inverts the coefficient matrix while
// the GPU works on what was queued before (the encoding of this segment, or the segment before it),
// copies the inverse over, and the GPU multiplies in tiles, reading the inverse through the texture
// path, or from shared memory, which the paper holds to be better where it fits, or plainly.
#include <algorithm>
#include <vector>

#include "codec/decode.h"
#include "codec/span_basis.h"
#include "cuda_kernels/papers/launch.h"
#include "cuda_kernels/papers/replicated.cuh"
#include "cuda_kernels/papers/tang_fragment.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

// A block's tile: 16 rows by 32 fragments of 2 bytes, a thread each; sources come 16 at a time (the
// CUDA guide's tiled product).
constexpr int kTileRows = 16, kTileFragments = 32, kTileSources = 16;
constexpr int kThreads = kTileRows * kTileFragments;

// Ways to the element at (row, source) of the inverse, rows kInversePitch apart.
struct FromGlobal {
  const std::uint8_t* inverse;
  __device__ __forceinline__ void load(int, int, int) {}
  __device__ __forceinline__ std::uint32_t at(int row, int source, int) const {
    return inverse[static_cast<std::size_t>(row) * Context::kInversePitch + source];
  }
};
struct FromTexture {
  Texture inverse;
  __device__ __forceinline__ void load(int, int, int) {}
  __device__ __forceinline__ std::uint32_t at(int row, int source, int) const {
    return tex2D<unsigned char>(inverse, static_cast<float>(source) + 0.5f,
                                static_cast<float>(row) + 0.5f);
  }
};
struct FromShared {
  const std::uint8_t* inverse;
  std::uint8_t (*tile)[kTileSources];
  // Before the block's barrier: sources first.. of the tile's rows.
  __device__ __forceinline__ void load(int first_row, int first, int n) {
    if (threadIdx.x >= kTileRows * kTileSources) return;
    const int row = static_cast<int>(threadIdx.x) / kTileSources;
    const int source = static_cast<int>(threadIdx.x) % kTileSources;
    tile[row][source] = first_row + row < n && first + source < n
                            ? FromGlobal{inverse}.at(first_row + row, first + source, 0)
                            : 0;
  }
  __device__ __forceinline__ std::uint32_t at(int, int, int source_in_tile) const {
    return tile[threadIdx.x / kTileFragments][source_in_tile];
  }
};

// out (n x k) = inverse (n x n) times payloads (n x k), of one segment.
template <class Inverse>
__device__ __forceinline__ void multiply_tiled(const Job& job, Inverse inverse) {
  __shared__ std::uint16_t sources[kTileSources][kTileFragments];
  const int fragments = job.k / 2;
  const int first_row = static_cast<int>(blockIdx.y) * kTileRows;
  const int row = first_row + static_cast<int>(threadIdx.x) / kTileFragments;
  const int column = static_cast<int>(threadIdx.x) % kTileFragments;
  const int at = static_cast<int>(blockIdx.x) * kTileFragments + column;
  const auto* payloads = reinterpret_cast<const std::uint16_t*>(job.blocks);
  Fragment2 sum;
  for (int first = 0; first < job.n; first += kTileSources) {
    const int mine = static_cast<int>(threadIdx.x) / kTileFragments;
    sources[mine][column] = first + mine < job.n && at < fragments
                                ? payloads[static_cast<std::size_t>(first + mine) * fragments + at]
                                : 0;
    inverse.load(first_row, first, job.n);
    __syncthreads();
    const int count = min(kTileSources, job.n - first);
    if (row < job.n) {
      for (int j = 0; j < count; ++j) sum.add(sources[j][column], inverse.at(row, first + j, j));
    }
    __syncthreads();
  }
  if (row < job.n && at < fragments) {
    reinterpret_cast<std::uint16_t*>(job.out)[static_cast<std::size_t>(row) * fragments + at] =
        sum.result();
  }
}

__global__ void __launch_bounds__(kThreads)
    tang_decode_inverse_global(Job job, const std::uint8_t* inverse) {
  multiply_tiled(job, FromGlobal{inverse});
}
__global__ void __launch_bounds__(kThreads) tang_decode_inverse_texture(Job job, Texture inverse) {
  multiply_tiled(job, FromTexture{inverse});
}
__global__ void __launch_bounds__(kThreads)
    tang_decode_inverse_shared(Job job, const std::uint8_t* inverse) {
  __shared__ std::uint8_t tile[kTileRows][kTileSources];
  multiply_tiled(job, FromShared{inverse, tile});
}

cudaStream_t queue(Context& context) {
  return static_cast<cudaStream_t>(context.stream().handle());
}

// Inverts on the CPU into `to`, rows kInversePitch apart; the rank is found out only if that fails.
int invert_on_host(const Job& job, int segment, std::uint8_t* to) {
  const std::size_t n = job.n, pitch = coefficient_pitch(job.n);
  const std::uint8_t* vectors = job.host_coefficients + segment * n * pitch;
  std::vector<std::uint8_t> matrix(n * n), inverse(n * n);
  for (std::size_t r = 0; r < n; ++r) std::copy_n(vectors + r * pitch, n, &matrix[r * n]);
  if (!codec::invert_matrix(matrix, n, inverse)) {
    codec::SpanBasis basis(n);
    for (std::size_t r = 0; r < n; ++r) basis.insert(std::span(matrix).subspan(r * n, n));
    return static_cast<int>(basis.rank());
  }
  for (std::size_t r = 0; r < n; ++r) {
    std::copy_n(&inverse[r * n], n, to + r * Context::kInversePitch);
  }
  return job.n;
}

// Two events, so that the host does not overwrite an inverse that is still being copied.
class SlotEvents {
 public:
  ~SlotEvents() {
    for (cudaEvent_t event : events_) {
      if (event != nullptr) (void)cudaEventDestroy(event);
    }
  }
  Status open() {
    for (cudaEvent_t& event : events_) {
      if (Status s =
              checked(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
          !s.ok()) {
        return s;
      }
    }
    return {};
  }
  Status record(int slot, cudaStream_t stream) {
    return checked(cudaEventRecord(events_[slot], stream), "cudaEventRecord");
  }
  Status wait(int slot) {  // returns at once if nothing was recorded
    return checked(cudaEventSynchronize(events_[slot]), "cudaEventSynchronize");
  }

 private:
  cudaEvent_t events_[2] = {};
};

template <class Launch>
Status decode(Context& context, const Job& job, const Launch& launch) {
  constexpr std::size_t kSlotBytes = 1024 * Context::kInversePitch;
  std::uint8_t* host = nullptr;
  if (Status s = context.pinned(2 * kSlotBytes, host); !s.ok()) return s;
  SlotEvents events;
  if (Status s = events.open(); !s.ok()) return s;
  for (int segment = 0; segment < job.segments; ++segment) {
    const int slot = segment % 2;
    if (Status s = events.wait(slot); !s.ok()) return s;
    std::uint8_t* inverse = host + slot * kSlotBytes;
    job.ranks[segment] = invert_on_host(job, segment, inverse);
    if (job.ranks[segment] < job.n) continue;
    if (Status s = context.stream().copy_rows_in(context.inverse(slot), Context::kInversePitch,
                                                 inverse, Context::kInversePitch, job.n, job.n);
        !s.ok()) {
      return s;
    }
    const dim3 grid(blocks_for(job.k / 2, kTileFragments), blocks_for(job.n, kTileRows));
    if (Status s = launch(grid, one_segment(job, segment), slot); !s.ok()) return s;
    if (Status s = events.record(slot, queue(context)); !s.ok()) return s;
  }
  return context.stream().wait();
}

}  // namespace

Status decode_inverse_global(Context& context, const Job& job) {
  return decode(context, job, [&](dim3 grid, const Job& one, int slot) {
    tang_decode_inverse_global<<<grid, kThreads, 0, queue(context)>>>(one, context.inverse(slot));
    return launched("tang_decode_inverse_global");
  });
}

Status decode_inverse_texture(Context& context, const Job& job) {
  return decode(context, job, [&](dim3 grid, const Job& one, int slot) {
    tang_decode_inverse_texture<<<grid, kThreads, 0, queue(context)>>>(
        one, context.inverse_texture(slot));
    return launched("tang_decode_inverse_texture");
  });
}

Status decode_inverse_shared(Context& context, const Job& job) {
  return decode(context, job, [&](dim3 grid, const Job& one, int slot) {
    tang_decode_inverse_shared<<<grid, kThreads, 0, queue(context)>>>(one, context.inverse(slot));
    return launched("tang_decode_inverse_shared");
  });
}

}  // namespace firn::cuda::papers
