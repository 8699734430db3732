#include "cuda_kernels/papers/context.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

#include "codec/gf256.h"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kTable = 65536;

// Where each linear table stands in one allocation.
enum Place : std::size_t {
  kLogFf = 0,
  kExp = 256,
  kLogZero = 768,
  kExpShifted = 1024,
  kInverse = 1536,
  kEnd = 1792
};

Bytes linear_tables() {
  Bytes all(kEnd, 0);
  all[kLogFf] = 0xff;
  std::uint8_t power = 1;
  for (std::size_t e = 0; e < 510; ++e) {
    all[kExp + e] = power;
    all[kExpShifted + e + 2] = power;
    if (e < 255) {
      all[kLogFf + power] = static_cast<std::uint8_t>(e);
      all[kLogZero + power] = static_cast<std::uint8_t>(e + 1);
    }
    power = codec::gf_multiply(power, 2);
  }
  for (unsigned a = 1; a < 256; ++a) {
    all[kInverse + a] = codec::gf_inverse(static_cast<std::uint8_t>(a));
  }
  return all;
}

// Row b, column a.
Bytes product_table(bool divide) {
  Bytes table(kTable, 0);
  for (unsigned b = divide ? 1 : 0; b < 256; ++b) {
    const auto other = static_cast<std::uint8_t>(b);
    const std::uint8_t factor = divide ? codec::gf_inverse(other) : other;
    for (unsigned a = 0; a < 256; ++a) {
      table[b * 256 + a] = codec::gf_multiply(static_cast<std::uint8_t>(a), factor);
    }
  }
  return table;
}

cudaTextureDesc point_sampled() {
  cudaTextureDesc description{};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = cudaFilterModePoint;
  description.readMode = cudaReadModeElementType;
  return description;
}

Status make_texture(const cudaResourceDesc& resource, Texture& texture) {
  const cudaTextureDesc description = point_sampled();
  return checked(cudaCreateTextureObject(&texture, &resource, &description, nullptr),
                 "cudaCreateTextureObject");
}

}  // namespace

Status Context::open(const Device& device, codec::Executor& executor) {
  executor_ = &executor;
  if (Status s = stream_.open(device); !s.ok()) return s;
  int per_block = 0, per_multiprocessor = 0;
  if (Status s = checked(
          cudaDeviceGetAttribute(&per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device.index),
          "cudaDeviceGetAttribute");
      !s.ok()) {
    return s;
  }
  if (Status s =
          checked(cudaDeviceGetAttribute(&per_multiprocessor,
                                         cudaDevAttrMaxSharedMemoryPerMultiprocessor, device.index),
                  "cudaDeviceGetAttribute");
      !s.ok()) {
    return s;
  }
  shared_per_block_ = static_cast<std::size_t>(per_block);
  shared_per_multiprocessor_ = static_cast<std::size_t>(per_multiprocessor);
  if (Status s = make_tables(); !s.ok()) return s;
  if (Status s = inverses_.allocate(device, 2 * 1024 * kInversePitch); !s.ok()) return s;
  for (int slot = 0; slot < 2; ++slot) {
    if (Status s = make_inverse_texture(slot); !s.ok()) return s;
  }
  return {};
}

Status Context::make_tables() {
  const Bytes linear = linear_tables();
  if (Status s = table_memory_.allocate(device(), linear.size()); !s.ok()) return s;
  std::uint8_t* data = table_memory_.data();
  if (Status s = stream_.copy_in(data, linear.data(), linear.size()); !s.ok()) return s;
  if (Status s = stream_.wait(); !s.ok()) return s;
  tables_.log_ff = data + kLogFf;
  tables_.exp = data + kExp;
  tables_.log_zero = data + kLogZero;
  tables_.exp_shifted = data + kExpShifted;
  tables_.inverse = data + kInverse;
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data + kExpShifted;
  resource.res.linear.sizeInBytes = 512;
  resource.res.linear.desc = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
  if (Status s = make_texture(resource, tables_.exp_shifted_texture); !s.ok()) return s;
  const Bytes products = product_table(false), quotients = product_table(true);
  if (Status s = make_table_texture(products.data(), arrays_[0], tables_.multiply); !s.ok()) {
    return s;
  }
  return make_table_texture(quotients.data(), arrays_[1], tables_.divide);
}

Status Context::make_table_texture(const std::uint8_t* table, void*& array, Texture& texture) {
  const cudaChannelFormatDesc format{8, 0, 0, 0, cudaChannelFormatKindUnsigned};
  cudaArray_t made = nullptr;
  if (Status s = checked(cudaMallocArray(&made, &format, 256, 256), "cudaMallocArray"); !s.ok()) {
    return s;
  }
  array = made;
  if (Status s =
          checked(cudaMemcpy2DToArray(made, 0, 0, table, 256, 256, 256, cudaMemcpyHostToDevice),
                  "cudaMemcpy2DToArray");
      !s.ok()) {
    return s;
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = made;
  return make_texture(resource, texture);
}

Status Context::make_inverse_texture(int slot) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = inverse(slot);
  resource.res.pitch2D.desc = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
  resource.res.pitch2D.width = resource.res.pitch2D.pitchInBytes = kInversePitch;
  resource.res.pitch2D.height = 1024;
  return make_texture(resource, inverse_textures_[slot]);
}

Context::~Context() {
  if (stream_.handle() == nullptr) return;
  (void)stream_.wait();
  (void)cudaSetDevice(device().index);
  for (const Texture texture : {tables_.exp_shifted_texture, tables_.multiply, tables_.divide,
                                inverse_textures_[0], inverse_textures_[1]}) {
    if (texture != 0) (void)cudaDestroyTextureObject(texture);
  }
  for (void* array : arrays_) {
    if (array != nullptr) (void)cudaFreeArray(static_cast<cudaArray_t>(array));
  }
}

Status Context::scratch(std::size_t bytes, std::uint8_t*& data) {
  if (scratch_.size() < bytes) {
    if (Status s = stream_.wait(); !s.ok()) return s;
    if (Status s = scratch_.allocate(device(), bytes); !s.ok()) return s;
  }
  data = scratch_.data();
  return {};
}

Status Context::pinned(std::size_t bytes, std::uint8_t*& data) {
  if (pinned_.size() < bytes) {
    if (Status s = stream_.wait(); !s.ok()) return s;
    if (Status s = pinned_.allocate(device(), bytes); !s.ok()) return s;
  }
  data = pinned_.data();
  return {};
}

}  // namespace firn::cuda::papers
