// The input of a fuzz target as a stream of small choices. Past its end everything is zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace firn::fuzz {

class FuzzBytes {
 public:
  FuzzBytes(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

  bool empty() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const std::uint8_t b = left_.front();
    left_ = left_.subspan(1);
    return b;
  }
  std::uint32_t below(std::uint32_t bound) { return byte() % bound; }
  // Mostly small; sometimes around a limit of 32 bits, or anything.
  std::uint32_t number() {
    const std::uint8_t b = byte();
    if (b < 200) return b;
    if (b < 210) return UINT32_MAX - (b - 200);
    if (b < 220) return (1u << 20) + b - 215;
    return std::uint32_t{byte()} << 24 | std::uint32_t{byte()} << 16 | std::uint32_t{byte()} << 8 |
           byte();
  }
  std::span<const std::uint8_t> take(std::size_t count) {
    const auto taken = left_.first(count < left_.size() ? count : left_.size());
    left_ = left_.subspan(taken.size());
    return taken;
  }
  // Exactly `count` bytes.
  std::vector<std::uint8_t> bytes(std::size_t count) {
    const auto taken = take(count);
    std::vector<std::uint8_t> result(taken.begin(), taken.end());
    result.resize(count);
    return result;
  }
  // One of the entries, or nullptr if there is none.
  template <typename Container>
  auto* pick(Container& from) {
    const std::uint32_t index = byte();
    using Pointer = decltype(&*from.begin());
    if (from.empty()) return Pointer{nullptr};
    auto it = from.begin();
    for (std::size_t i = index % from.size(); i > 0; --i) ++it;
    return &*it;
  }
  // As pick, and takes it out of a vector; `otherwise` if there is none.
  template <typename T>
  T draw(std::vector<T>& from, T otherwise) {
    T* one = pick(from);
    if (!one) return otherwise;
    const T value = *one;
    from.erase(from.begin() + (one - from.data()));
    return value;
  }

 private:
  std::span<const std::uint8_t> left_;
};

}  // namespace firn::fuzz
