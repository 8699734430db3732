#include "ceilings.h"

#include <cuda_runtime.h>

#include "cuda_kernels/cuda_check.h"
#include "cuda_kernels/wgmma.cuh"

namespace firn::cuda {
namespace {

constexpr int kThreads = 256, kSharedBytes = 96 * 1024 + 1024;
constexpr int kProductsAtOnce = 16, kRounds = 2000;

// Two warpgroups multiply 64 x 256 by 256 x 256 bits over and over. Operands are random: a product
// with zeros takes less power, and runs faster where power is the limit.
__global__ void __launch_bounds__(kThreads, 1) multiply_bits_forever(int* out, int rounds) {
  extern __shared__ std::uint8_t raw[];
  const auto raw_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(raw));
  const std::uint32_t address = (raw_address + 1023) & ~1023u;
  auto* words = reinterpret_cast<std::uint32_t*>(raw + (address - raw_address));
  for (int i = threadIdx.x; i < 96 * 1024 / 4; i += kThreads) {
    std::uint32_t x = (i + 1) * 0x9e3779b9u;
    x = (x ^ x >> 15) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    words[i] = x ^ x >> 16;
  }
  fence_async_proxy();
  __syncthreads();
  const int group = threadIdx.x >> 7;
  int sums[128];
#pragma unroll
  for (int i = 0; i < 128; ++i) sums[i] = 0;
  const std::uint32_t a = descriptor_low(address + group * 16384),
                      b = descriptor_low(address + 32768);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < kProductsAtOnce; ++i) {
      wgmma_and_popc_n256(sums, descriptor(a + i / 4 % 2 * 512 + i % 4 * 2),
                          descriptor(b + i / 4 % 2 * 2048 + i % 4 * 2), 1);
    }
    wgmma_commit();
    wgmma_wait<0>();
  }
  int all = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) all ^= sums[i];
  out[blockIdx.x * kThreads + threadIdx.x] = all;
}

}  // namespace

Status measure_binary_wgmma(Stream& stream, double seconds, double& bit_products_per_second) {
  const Device& device = stream.device();
  const int blocks = device.multiprocessors;
  DeviceMemory out;
  Stopwatch watch;
  if (Status s = out.allocate(device, sizeof(int) * kThreads * blocks); !s.ok()) return s;
  if (Status s = watch.open(device); !s.ok()) return s;
  const cudaError_t error = cudaFuncSetAttribute(
      multiply_bits_forever, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (Status s = checked(error, "shared memory of multiply_bits_forever"); !s.ok()) return s;

  const double each = 2.0 * kRounds * kProductsAtOnce * 64 * 256 * 256 * blocks;
  double spent = 0;
  for (int launches = 1; spent < seconds; launches *= 2) {
    if (Status s = watch.start(stream); !s.ok()) return s;
    for (int i = 0; i < launches; ++i) {
      multiply_bits_forever<<<blocks, kThreads, kSharedBytes,
                              static_cast<cudaStream_t>(stream.handle())>>>(
          reinterpret_cast<int*>(out.data()), kRounds);
      if (Status s = launched("multiply_bits_forever"); !s.ok()) return s;
    }
    if (Status s = watch.stop(stream); !s.ok()) return s;
    if (Status s = watch.read(spent); !s.ok()) return s;
    bit_products_per_second = each * launches / spent;
  }
  return {};
}

}  // namespace firn::cuda
