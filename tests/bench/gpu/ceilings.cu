#include "ceilings.h"

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda_kernels/product/wgmma_instructions.cuh"
#include "cuda_kernels/runtime/cuda_check.h"
#include "cuda_kernels/runtime/stopwatch.h"

namespace firn::cuda {
namespace {

constexpr int kThreads = 256, kSharedBytes = 96 * 1024 + 1024;
constexpr int kProductsAtOnce = 16, kRounds = 2000;

constexpr int kTileBytes = 16384;  // of A for each warpgroup; B has 64 KiB behind both

// Random: a product with zeros takes less power, and runs faster where power is the limit.
__device__ void fill_operands(std::uint8_t* shared, int thread) {
  auto* words = reinterpret_cast<std::uint32_t*>(shared);
  for (int i = thread; i < 96 * 1024 / 4; i += kThreads) {
    std::uint32_t x = (i + 1) * 0x9e3779b9u;
    x = (x ^ x >> 15) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    words[i] = x ^ x >> 16;
  }
}

// 64 x 256 by 256 x 256 bits, kProductsAtOnce times. Sums begin anew where the product's number has
// none of the bits of `go_on`.
__device__ __forceinline__ void multiply_often(int (&sums)[128], std::uint32_t address, int group,
                                               int go_on) {
  const std::uint32_t a = descriptor_low(address + group * kTileBytes),
                      b = descriptor_low(address + 2 * kTileBytes);
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < kProductsAtOnce; ++i) {
    wgmma_and_popc_n256(sums, descriptor(a + i / 4 % 2 * 512 + i % 4 * 2),
                        descriptor(b + i / 4 % 2 * 2048 + i % 4 * 2), i & go_on);
  }
  wgmma_commit();
  wgmma_wait<0>();
}

__device__ __forceinline__ void keep(const int (&sums)[128], int* out) {
  int all = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) all ^= sums[i];
  out[blockIdx.x * kThreads + threadIdx.x] = all;
}

// Two warpgroups multiply over and over.
__global__ void __launch_bounds__(kThreads, 1) multiply_bits_forever(int* out, int rounds) {
  extern __shared__ std::uint8_t raw[];
  const auto raw_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(raw));
  const std::uint32_t address = (raw_address + 1023) & ~1023u;
  fill_operands(raw + (address - raw_address), threadIdx.x);
  fence_async_proxy();
  __syncthreads();
  int sums[128];
#pragma unroll
  for (int i = 0; i < 128; ++i) sums[i] = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) multiply_often(sums, address, threadIdx.x >> 7, -1);
  keep(sums, out);
}

// --- products and copies together ---

constexpr int kStages = 3, kStageBytes = 32768, kTies = 4;
constexpr int kTogetherBytes = 96 * 1024 + kStages * kStageBytes + 256 + 1024;

struct Copies {
  const std::uint8_t* from;
  std::uint8_t* to;
  int bytes;   // copied for each round of products, a multiple of 16, at most kStageBytes
  int pieces;  // of `bytes` bytes, in either
  __device__ std::size_t at(int round) const {
    const auto piece = static_cast<unsigned>(round) * gridDim.x + blockIdx.x;
    return static_cast<std::size_t>(piece % static_cast<unsigned>(pieces)) * bytes;
  }
};

struct Ties {
  std::uint32_t multiplied, copied;  // kTies barriers each
  std::uint32_t arrived;             // kStages
};

// One thread: a piece in and out again for each round of products, by the copy engine.
__device__ void copy_along(const Copies& copies, const Ties& ties, std::uint32_t stages,
                           int rounds) {
  const auto load = [&](int round) {
    const int stage = round % kStages;
    mbarrier_arrive_expecting(ties.arrived + 8 * stage, copies.bytes);
    bulk_copy(stages + stage * kStageBytes, copies.from + copies.at(round), copies.bytes,
              ties.arrived + 8 * stage);
  };
  load(0);
  load(1);
  for (int round = 0; round < rounds; ++round) {
    mbarrier_wait(ties.multiplied + 8 * (round % kTies), round / kTies & 1);
    const int stage = round % kStages;
    mbarrier_wait(ties.arrived + 8 * stage, round / kStages & 1);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     copies.to + copies.at(round)),
                 "r"(stages + stage * kStageBytes), "r"(copies.bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (round + 2 < rounds) {
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");  // its stage was read
      load(round + 2);
    }
    mbarrier_arrive(ties.copied + 8 * (round % kTies));
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// The same products, and beside them a third warpgroup's copies; neither gets ahead of the other.
__global__ void __launch_bounds__(kThreads + 128, 1)
    multiply_and_copy(int* out, int rounds, int go_on, Copies copies) {
  extern __shared__ std::uint8_t raw[];
  const auto raw_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(raw));
  const std::uint32_t address = (raw_address + 1023) & ~1023u;
  const std::uint32_t stages = address + 96 * 1024, barriers = stages + kStages * kStageBytes;
  const Ties ties{barriers, barriers + 8 * kTies, barriers + 16 * kTies};
  if (threadIdx.x == 0) {
    for (int i = 0; i < kTies; ++i) {
      mbarrier_init(ties.multiplied + 8 * i, 2);
      mbarrier_init(ties.copied + 8 * i, 1);
    }
    for (int i = 0; i < kStages; ++i) mbarrier_init(ties.arrived + 8 * i, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (threadIdx.x < kThreads) fill_operands(raw + (address - raw_address), threadIdx.x);
  fence_async_proxy();
  __syncthreads();
  if (__shfl_sync(~0u, threadIdx.x >> 7, 0) == 2) {
    if (threadIdx.x == kThreads) copy_along(copies, ties, stages, rounds);
    return;
  }
  int sums[128];
#pragma unroll
  for (int i = 0; i < 128; ++i) sums[i] = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    mbarrier_wait(ties.copied + 8 * (round % kTies), (round / kTies & 1) ^ 1);
    multiply_often(sums, address, threadIdx.x >> 7, go_on);
    if ((threadIdx.x & 127) == 0) mbarrier_arrive(ties.multiplied + 8 * (round % kTies));
  }
  keep(sums, out);
}

constexpr double kProductsOfRound = 2.0 * kProductsAtOnce * 64 * 256 * 256;  // of bits, by a block

// Launches more and more until `seconds` have passed; launches a second of the last measurement.
template <typename Launch>
Status launches_per_second(Stream& stream, double seconds, const Launch& launch, double& rate) {
  Stopwatch watch;
  if (Status s = watch.open(stream.device()); !s.ok()) return s;
  double spent = 0;
  for (int launches = 1; spent < seconds; launches *= 2) {
    if (Status s = watch.start(stream); !s.ok()) return s;
    for (int i = 0; i < launches; ++i) {
      if (Status s = launch(); !s.ok()) return s;
    }
    if (Status s = watch.stop(stream); !s.ok()) return s;
    if (Status s = watch.read(spent); !s.ok()) return s;
    rate = launches / spent;
  }
  return {};
}

}  // namespace

Status measure_binary_wgmma(Stream& stream, double seconds, double& bit_products_per_second) {
  const int blocks = stream.device().multiprocessors;
  DeviceMemory out;
  if (Status s = out.allocate(stream.device(), sizeof(int) * kThreads * blocks); !s.ok()) return s;
  const cudaError_t error = cudaFuncSetAttribute(
      multiply_bits_forever, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (Status s = checked(error, "shared memory of multiply_bits_forever"); !s.ok()) return s;
  double rate = 0;
  const Status s = launches_per_second(
      stream, seconds,
      [&] {
        multiply_bits_forever<<<blocks, kThreads, kSharedBytes,
                                static_cast<cudaStream_t>(stream.handle())>>>(
            reinterpret_cast<int*>(out.data()), kRounds);
        return launched("multiply_bits_forever");
      },
      rate);
  bit_products_per_second = rate * kProductsOfRound * kRounds * blocks;
  return s;
}

Status measure_products_and_copies(Stream& stream, double bit_products_per_byte, int sum_bits,
                                   const DeviceMemory& from, const DeviceMemory& to, double seconds,
                                   double& bytes_per_second) {
  const int blocks = stream.device().multiprocessors;
  DeviceMemory out;
  if (Status s = out.allocate(stream.device(), sizeof(int) * kThreads * blocks); !s.ok()) return s;
  Copies copies{from.data(), to.data(), 0, 0};
  copies.bytes = static_cast<int>(kProductsOfRound / bit_products_per_byte) / 16 * 16;
  if (copies.bytes < 16 || copies.bytes > kStageBytes)
    return unsupported("bit products for a byte out of range");
  copies.pieces = static_cast<int>(std::min(from.size(), to.size()) / copies.bytes);
  const cudaError_t error = cudaFuncSetAttribute(
      multiply_and_copy, cudaFuncAttributeMaxDynamicSharedMemorySize, kTogetherBytes);
  if (Status s = checked(error, "shared memory of multiply_and_copy"); !s.ok()) return s;
  double rate = 0;
  const Status s = launches_per_second(
      stream, seconds,
      [&] {
        multiply_and_copy<<<blocks, kThreads + 128, kTogetherBytes,
                            static_cast<cudaStream_t>(stream.handle())>>>(
            reinterpret_cast<int*>(out.data()), kRounds, sum_bits / 256 - 1, copies);
        return launched("multiply_and_copy");
      },
      rate);
  bytes_per_second = rate * kRounds * blocks * copies.bytes;
  return s;
}

}  // namespace firn::cuda
