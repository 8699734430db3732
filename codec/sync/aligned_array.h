// A std::vector whose memory starts at a multiple of 64 bytes, as the kernels ask.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace firn::codec::sync {

template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  AlignedAllocator() = default;
  template <class Other>
  AlignedAllocator(const AlignedAllocator<Other>&) {}  // NOLINT: implicit, as containers want it

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kAlignment));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kAlignment); }
  bool operator==(const AlignedAllocator&) const = default;
};

template <class T>
using AlignedArray = std::vector<T, AlignedAllocator<T>>;

}  // namespace firn::codec::sync
