// Memory for work on a device. Objects may be moved and not copied, and free what they hold. One
// thread at a time for each object; different objects may be used by different threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/runtime/device.h"
#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

// Where DeviceMemory comes from in place of the CUDA runtime, for a Device that names it. Any
// thread; the device is the one that the thread has selected. Outlives what it has given.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  virtual Status allocate(std::size_t bytes, std::uint8_t*& memory) = 0;
  virtual void release(std::uint8_t* memory, std::size_t bytes) = 0;
};

// Memory on a device, at least 256-byte aligned.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&&) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) noexcept;
  ~DeviceMemory();

  // Replaces what this object held. kOutOfMemory leaves it empty and the device usable.
  Status allocate(const Device& device, std::size_t bytes);
  std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  int device_ = -1;
  MemorySource* source_ = nullptr;
};

// Page-locked host memory: copies from and to it run beside other work, at the bus's full rate.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(PinnedMemory&&) noexcept;
  PinnedMemory& operator=(PinnedMemory&&) noexcept;
  ~PinnedMemory();

  Status allocate(const Device& device, std::size_t bytes);
  std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace firn::cuda
