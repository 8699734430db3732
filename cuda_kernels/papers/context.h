// What the papers' algorithms need beside the job: tables and textures on a device, scratch memory
// that grows (the first run of a larger job waits and allocates, later ones do not), the CPU's
// threads. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "codec/executor.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/status.h"
#include "cuda_kernels/runtime/stream.h"

namespace firn::cuda::papers {

// Handles are CUDA's, without its types: cudaTextureObject_t is this integer.
using Texture = unsigned long long;

// The field's tables on the device.
struct FieldTables {
  // log of each byte with 0xff for zero (Envelope, Fig. 5), and x^e for e < 510.
  const std::uint8_t* log_ff = nullptr;
  const std::uint8_t* exp = nullptr;
  // The remapped pair (Envelope, 5.1.3): log + 1 with 0 for zero, and x^(e-2) for 2 <= e < 512.
  const std::uint8_t* log_zero = nullptr;
  const std::uint8_t* exp_shifted = nullptr;
  const std::uint8_t* inverse = nullptr;  // 256
  Texture exp_shifted_texture = 0;        // linear, 512 bytes
  // 256 x 256 bytes, two-dimensional (Vingelmann, 4): at (a, b) stand a b and a / b; a / 0 is 0.
  Texture multiply = 0, divide = 0;
};

class Context {
 public:
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  // `executor` runs the CPU's part and must outlive this object.
  Status open(const Device& device, codec::Executor& executor);

  const Device& device() const { return stream_.device(); }
  Stream& stream() { return stream_; }
  codec::Executor& executor() { return *executor_; }
  const FieldTables& tables() const { return tables_; }
  // Bytes that a block may ask for, and that a multiprocessor has.
  std::size_t shared_per_block() const { return shared_per_block_; }
  std::size_t shared_per_multiprocessor() const { return shared_per_multiprocessor_; }

  // At least `bytes`, 256-byte aligned; what an earlier call returned is no longer valid. The
  // content is whatever was there.
  Status scratch(std::size_t bytes, std::uint8_t*& data);
  Status pinned(std::size_t bytes, std::uint8_t*& data);

  // Two matrices of 1024 x 1024 bytes for inverses from the host, each also as a two-dimensional
  // texture (Tang, 4.3): column is x, row is y.
  static constexpr std::size_t kInversePitch = 1024;
  std::uint8_t* inverse(int slot) const { return inverses_.data() + slot * 1024 * kInversePitch; }
  Texture inverse_texture(int slot) const { return inverse_textures_[slot]; }

 private:
  Status make_tables();
  Status make_table_texture(const std::uint8_t* table, void*& array, Texture& texture);
  Status make_inverse_texture(int slot);

  Stream stream_;
  codec::Executor* executor_ = nullptr;
  FieldTables tables_;
  DeviceMemory table_memory_, inverses_, scratch_;
  PinnedMemory pinned_;
  void* arrays_[2] = {};  // cudaArray_t
  Texture inverse_textures_[2] = {};
  std::size_t shared_per_block_ = 0, shared_per_multiprocessor_ = 0;
};

}  // namespace firn::cuda::papers
