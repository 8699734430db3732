// Device memory that ends early: a Device that names this as its source seems to have `limit`
// bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cuda_kernels/runtime/cuda_calls.h"
#include "cuda_kernels/runtime/memory.h"

namespace firn::cuda {

class LimitedMemory final : public MemorySource {
 public:
  explicit LimitedMemory(std::size_t limit) : limit_(limit) {}

  // That device, with this memory.
  Device of(Device device) {
    device.memory_source = this;
    return device;
  }

  Status allocate(std::size_t bytes, std::uint8_t*& memory) override {
    if (held_.fetch_add(bytes) + bytes > limit_) {
      held_ -= bytes;
      return {Code::kOutOfMemory, "the limit of a test"};
    }
    const Status status = calls::allocate(bytes, memory);
    if (!status.ok()) held_ -= bytes;
    return status;
  }
  void release(std::uint8_t* memory, std::size_t bytes) override {
    held_ -= bytes;
    calls::release(memory);
  }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> held_ = 0;
};

}  // namespace firn::cuda
