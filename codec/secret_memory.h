// Memory for keys: containers that overwrite their bytes before they give memory back, wherever
// that happens (end of life, growth, assignment). It is not locked into RAM: a machine that swaps
// may write it to its disk. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace firn::codec {

// Overwrites `bytes` bytes with zeros; the compiler cannot leave it out.
void wipe(void* memory, std::size_t bytes);

// For std::vector: 64-byte aligned, wiped before it is freed.
template <class T>
struct WipingAllocator {
  static constexpr std::align_val_t kAlignment{64};
  using value_type = T;

  WipingAllocator() = default;
  template <class U>
  WipingAllocator(const WipingAllocator<U>&) {}  // NOLINT: implicit, as allocators convert

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kAlignment));
  }
  void deallocate(T* memory, std::size_t count) {
    wipe(memory, count * sizeof(T));
    ::operator delete(memory, kAlignment);
  }
  template <class U>
  bool operator==(const WipingAllocator<U>&) const {
    return true;
  }
};

template <class T>
using SecretVector = std::vector<T, WipingAllocator<T>>;

}  // namespace firn::codec
