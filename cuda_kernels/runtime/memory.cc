#include "cuda_kernels/runtime/memory.h"

#include <utility>

#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda {

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept {
  *this = std::move(other);
}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(device_, other.device_);
  std::swap(source_, other.source_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (data_ == nullptr) return;
  const bool selected = calls::select(device_).ok();
  if (source_ != nullptr) {
    source_->release(data_, size_);
  } else if (selected) {
    calls::release(data_);
  }
}

Status DeviceMemory::allocate(const Device& device, std::size_t bytes) {
  *this = DeviceMemory();
  if (Status s = calls::select(device.index); !s.ok()) return s;
  std::uint8_t* memory = nullptr;
  MemorySource* const source = device.memory_source;
  const Status taken =
      source != nullptr ? source->allocate(bytes, memory) : calls::allocate(bytes, memory);
  if (!taken.ok()) return taken;
  data_ = memory;
  size_ = bytes;
  device_ = device.index;
  source_ = source;
  return {};
}

PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept {
  *this = std::move(other);
}

PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PinnedMemory::~PinnedMemory() {
  if (data_ != nullptr) calls::release_pinned(data_);
}

Status PinnedMemory::allocate(const Device& device, std::size_t bytes) {
  *this = PinnedMemory();
  if (Status s = calls::select(device.index); !s.ok()) return s;
  if (Status s = calls::allocate_pinned(bytes, data_); !s.ok()) return s;
  size_ = bytes;
  return {};
}

}  // namespace firn::cuda
