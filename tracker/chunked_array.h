// An array that grows without moving what is in it, in chunks: of some 1 KiB first, then each as
// large as all before it together, up to some 64 KiB. So a short one is small, and what is added
// costs the same whether it is the first or the ten millionth, but for a new chunk now and then.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace firn::tracker {

// One thread. Addresses of elements stay what they are.
template <class T>
class ChunkedArray {
 public:
  std::uint32_t size() const { return size_; }
  T& operator[](std::uint32_t at) { return chunks_[chunk_of(at)][place_of(at)]; }
  const T& operator[](std::uint32_t at) const { return chunks_[chunk_of(at)][place_of(at)]; }

  T& push_back(T value) {
    if (chunk_of(size_) == chunks_.size())
      chunks_.push_back(std::make_unique<T[]>(length_of(chunks_.size())));
    T& added = (*this)[size_++];
    added = std::move(value);
    return added;
  }
  // Keeps one chunk that is empty, so that what comes and goes costs no memory each time.
  void pop_back() {
    (*this)[--size_] = T{};
    if (chunk_of(size_) + 2 < chunks_.size()) chunks_.pop_back();
  }

 private:
  static constexpr int shift_of(std::size_t chunk_bytes) {
    return std::bit_width(chunk_bytes / sizeof(T)) - 1;
  }
  static constexpr int kFirst = shift_of(1 << 10);  // elements of chunks: 2 to the power of these
  static constexpr int kWhole = shift_of(64 << 10);
  static_assert(kFirst >= 0);
  // Chunks before the first whole one: 2^kFirst elements, as many again, twice as many, and so on.
  static constexpr std::size_t kSmaller = kWhole - kFirst;

  static std::size_t chunk_of(std::uint32_t at) {
    if (at >> kWhole != 0) return kSmaller + (at >> kWhole);
    return static_cast<std::size_t>(std::bit_width(at >> kFirst));
  }
  static std::uint32_t place_of(std::uint32_t at) {
    if (at >> kWhole != 0) return at & ((1u << kWhole) - 1);
    return at >> kFirst == 0 ? at : at - std::bit_floor(at);
  }
  static std::size_t length_of(std::size_t chunk) {
    if (chunk > kSmaller) return std::size_t{1} << kWhole;
    return std::size_t{1} << (kFirst + (chunk > 0 ? chunk - 1 : 0));
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::uint32_t size_ = 0;
};

}  // namespace firn::tracker
