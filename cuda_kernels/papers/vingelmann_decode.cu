// Vingelmann and Fitzek, 4.2: progressive decoding by two kernels for each coded packet, a thread
// for each byte, multiplying and dividing by two-dimensional tables in textures. Between the
// kernels the pivot is searched by the host or, as the paper describes and advises against, by a
// third kernel of one thread.
#include "cuda_kernels/papers/launch.h"
#include "cuda_kernels/papers/replicated.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

constexpr int kThreads = 256;

// The decoding matrix is n x (n + k): coefficients here, payloads in the job's output. The row with
// its pivot in column p is row p.
struct State {
  std::uint8_t* matrix;   // n x pitch
  std::uint8_t* payload;  // n x k
  std::uint8_t* current;  // pitch + k: the packet under reduction
  std::uint8_t* column;   // n: coefficients at the pivot before the second kernel, by row
  std::uint16_t* known;   // n: nonzero rows in order of arrival
  int* rank;              // pivot kernel: rows so far
  int* pivot;             // pivot kernel: of this packet, n if it is dependent
  Texture multiply, divide;
  int n, pitch, k;
};

__device__ __forceinline__ std::uint32_t look_up(Texture table, std::uint32_t a, std::uint32_t b) {
  return tex2D<unsigned char>(table, static_cast<float>(a) + 0.5f, static_cast<float>(b) + 0.5f);
}

__device__ __forceinline__ std::uint8_t& element(const State& state, int row, int i) {
  return i < state.pitch ? state.matrix[static_cast<std::size_t>(row) * state.pitch + i]
                         : state.payload[static_cast<std::size_t>(row) * state.k + i - state.pitch];
}

// First kernel: a thread for each of the packet's n + k bytes takes out what the rows known have of
// it.
__device__ __forceinline__ void reduce_byte(const State& state, const std::uint8_t* vector,
                                            const std::uint8_t* payload, int rank) {
  const int i = static_cast<int>(thread_of_grid());
  if (i >= state.pitch + state.k) return;
  std::uint32_t value = i < state.pitch ? vector[i] : payload[i - state.pitch];
  for (int r = 0; r < rank; ++r) {
    const int row = state.known[r];
    value ^= look_up(state.multiply, element(state, row, i), vector[row]);
  }
  state.current[i] = static_cast<std::uint8_t>(value);
}

// Second kernel: a thread for each byte of the nonzero rows and of the new one. It normalises the
// packet's byte; the new row takes it as it is, the others less a multiple.
__device__ __forceinline__ void insert_byte(const State& state, int rank, int pivot,
                                            std::uint32_t lead) {
  const int width = state.pitch + state.k;
  const int r = static_cast<int>(thread_of_grid()) / width;
  const int i = static_cast<int>(thread_of_grid()) % width;
  if (r > rank) return;
  const std::uint32_t normal = look_up(state.divide, state.current[i], lead);
  if (r == rank) {
    element(state, pivot, i) = static_cast<std::uint8_t>(normal);
  } else {
    const int row = state.known[r];
    element(state, row, i) ^=
        static_cast<std::uint8_t>(look_up(state.multiply, normal, state.column[row]));
  }
}

__global__ void vingelmann_reduce_packet(State state, const std::uint8_t* vector,
                                         const std::uint8_t* payload, int rank) {
  reduce_byte(state, vector, payload, rank);
}

// The new pivot is known to later launches only: all threads read known[0..rank).
__global__ void vingelmann_insert_packet(State state, int rank, int pivot, std::uint8_t lead) {
  insert_byte(state, rank, pivot, lead);
  if (thread_of_grid() == 0) state.known[rank] = static_cast<std::uint16_t>(pivot);
}

__global__ void vingelmann_reduce_packet_rank_on_gpu(State state, const std::uint8_t* vector,
                                                     const std::uint8_t* payload) {
  reduce_byte(state, vector, payload, *state.rank);
}

// One thread: finds the pivot, saves its column, counts the row. The rank that the second kernel
// needs is one less afterwards.
__global__ void vingelmann_find_pivot(State state) {
  int pivot = 0;
  const int rank = *state.rank;
  while (pivot < state.n && state.current[pivot] == 0) ++pivot;
  *state.pivot = pivot;
  if (pivot == state.n) return;
  for (int r = 0; r < rank; ++r) {
    const int row = state.known[r];
    state.column[row] = state.matrix[static_cast<std::size_t>(row) * state.pitch + pivot];
  }
  state.known[rank] = static_cast<std::uint16_t>(pivot);
  *state.rank = rank + 1;
}

__global__ void vingelmann_insert_packet_rank_on_gpu(State state) {
  const int pivot = *state.pivot;
  if (pivot == state.n) return;
  insert_byte(state, *state.rank - 1, pivot, state.current[pivot]);
}

cudaStream_t queue(Context& context) {
  return static_cast<cudaStream_t>(context.stream().handle());
}

Status make_state(Context& context, const Job& job, State& state) {
  const std::size_t pitch = coefficient_pitch(job.n), n = job.n;
  std::uint8_t* scratch = nullptr;
  if (Status s = context.scratch(n * pitch + pitch + job.k + 3 * pitch + 2 * sizeof(int), scratch);
      !s.ok()) {
    return s;
  }
  state.matrix = scratch;
  state.current = scratch + n * pitch;
  state.column = state.current + pitch + job.k;
  state.known = reinterpret_cast<std::uint16_t*>(state.column + pitch);
  state.rank = reinterpret_cast<int*>(state.known + pitch);
  state.pivot = state.rank + 1;
  state.multiply = context.tables().multiply;
  state.divide = context.tables().divide;
  state.n = job.n, state.pitch = static_cast<int>(pitch), state.k = job.k;
  return {};
}

// A job of one segment, with the host between the kernels.
Status decode_segment_with_host(Context& context, const Job& job, const State& state,
                                std::uint8_t* host) {
  const int width = state.pitch + state.k;
  int rank = 0;
  for (int packet = 0; packet < job.m && rank < job.n; ++packet) {
    const std::size_t at = packet;
    vingelmann_reduce_packet<<<blocks_for(width, kThreads), kThreads, 0, queue(context)>>>(
        state, job.coefficients + at * state.pitch, job.blocks + at * job.k, rank);
    if (Status s = launched("vingelmann_reduce_packet"); !s.ok()) return s;
    if (Status s = context.stream().copy_out(host, state.current, state.pitch); !s.ok()) return s;
    if (Status s = context.stream().wait(); !s.ok()) return s;
    int pivot = 0;
    while (pivot < job.n && host[pivot] == 0) ++pivot;
    if (pivot == job.n) continue;
    if (Status s = checked(cudaMemcpy2DAsync(state.column, 1, state.matrix + pivot, state.pitch, 1,
                                             job.n, cudaMemcpyDeviceToDevice, queue(context)),
                           "cudaMemcpy2DAsync");
        !s.ok()) {
      return s;
    }
    const std::size_t threads = std::size_t(rank + 1) * width;
    vingelmann_insert_packet<<<blocks_for(threads, kThreads), kThreads, 0, queue(context)>>>(
        state, rank, pivot, host[pivot]);
    if (Status s = launched("vingelmann_insert_packet"); !s.ok()) return s;
    ++rank;
  }
  *job.ranks = rank;
  return {};
}

// The same without the host: every launch is as wide as the packet count allows the rank to be.
Status decode_segment_on_gpu(Context& context, const Job& job, const State& state,
                             std::uint8_t* host) {
  const int width = state.pitch + state.k;
  auto* rank = reinterpret_cast<std::uint8_t*>(state.rank);
  if (Status s = context.stream().fill(rank, 0, sizeof(int)); !s.ok()) return s;
  for (int packet = 0; packet < job.m; ++packet) {
    const std::size_t at = packet;
    vingelmann_reduce_packet_rank_on_gpu<<<blocks_for(width, kThreads), kThreads, 0,
                                           queue(context)>>>(
        state, job.coefficients + at * state.pitch, job.blocks + at * job.k);
    if (Status s = launched("vingelmann_reduce_packet_rank_on_gpu"); !s.ok()) return s;
    vingelmann_find_pivot<<<1, 1, 0, queue(context)>>>(state);
    if (Status s = launched("vingelmann_find_pivot"); !s.ok()) return s;
    const std::size_t rows = std::min(packet + 1, job.n);
    vingelmann_insert_packet_rank_on_gpu<<<blocks_for(rows * width, kThreads), kThreads, 0,
                                           queue(context)>>>(state);
    if (Status s = launched("vingelmann_insert_packet_rank_on_gpu"); !s.ok()) return s;
  }
  if (Status s = context.stream().copy_out(host, rank, sizeof(int)); !s.ok()) return s;
  if (Status s = context.stream().wait(); !s.ok()) return s;
  *job.ranks = *reinterpret_cast<const int*>(host);
  return {};
}

Status decode(Context& context, const Job& job,
              Status (*segment_decoder)(Context&, const Job&, const State&, std::uint8_t*)) {
  State state{};
  if (Status s = make_state(context, job, state); !s.ok()) return s;
  std::uint8_t* host = nullptr;
  if (Status s = context.pinned(state.pitch + sizeof(int), host); !s.ok()) return s;
  for (int segment = 0; segment < job.segments; ++segment) {
    const Job one = one_segment(job, segment);
    state.payload = one.out;
    if (Status s = segment_decoder(context, one, state, host); !s.ok()) return s;
  }
  return context.stream().wait();
}

}  // namespace

Status decode_two_kernels(Context& context, const Job& job) {
  return decode(context, job, decode_segment_with_host);
}

Status decode_pivot_kernel(Context& context, const Job& job) {
  return decode(context, job, decode_segment_on_gpu);
}

}  // namespace firn::cuda::papers
