// An array that grows without moving what is in it: chunks of some 64 KiB. What is added costs the
// same whether it is the first or the ten millionth, but for a new chunk now and then.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace firn::tracker {

// One thread. Addresses of elements stay what they are.
template <class T>
class ChunkedArray {
 public:
  std::uint32_t size() const { return size_; }
  T& operator[](std::uint32_t at) { return chunks_[at >> kShift][at & kMask]; }
  const T& operator[](std::uint32_t at) const { return chunks_[at >> kShift][at & kMask]; }

  T& push_back(T value) {
    if (size_ >> kShift == chunks_.size()) chunks_.push_back(std::make_unique<T[]>(kMask + 1));
    T& added = (*this)[size_++];
    added = std::move(value);
    return added;
  }
  // Keeps one chunk that is empty, so that what comes and goes costs no memory each time.
  void pop_back() {
    (*this)[--size_] = T{};
    if ((size_ >> kShift) + 2 < chunks_.size()) chunks_.pop_back();
  }

 private:
  static constexpr std::uint32_t kChunkBytes = 64 << 10;
  static constexpr int kShift = std::bit_width(kChunkBytes / sizeof(T)) - 1;
  static constexpr std::uint32_t kMask = (1u << kShift) - 1;

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::uint32_t size_ = 0;
};

}  // namespace firn::tracker
