// A vector of numbers in 16 bytes, of which two are held in place: most lists of a tracker are as
// short as that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace firn::tracker {

// One thread.
class NumberList {
 public:
  NumberList() = default;
  NumberList(NumberList&& other) noexcept { swap(other); }
  NumberList& operator=(NumberList&& other) noexcept {
    swap(other);
    return *this;
  }
  ~NumberList() {
    if (!is_near()) delete[] numbers_.far;
  }

  std::uint32_t size() const { return size_; }
  std::uint32_t& operator[](std::uint32_t at) { return data()[at]; }
  std::uint32_t operator[](std::uint32_t at) const { return begin()[at]; }
  const std::uint32_t* begin() const { return is_near() ? numbers_.near : numbers_.far; }
  const std::uint32_t* end() const { return begin() + size_; }

  void push_back(std::uint32_t number) {
    if (size_ == capacity_) move_to(capacity_ + capacity_ / 2 + 1);
    data()[size_++] = number;
  }
  // Gives memory back once little of it is used.
  void pop_back() {
    --size_;
    if (!is_near() && size_ < capacity_ / 4) move_to(std::max(size_ + size_ / 2, kNear));
  }

 private:
  static constexpr std::uint32_t kNear = 2;

  bool is_near() const { return capacity_ == kNear; }
  std::uint32_t* data() { return is_near() ? numbers_.near : numbers_.far; }
  void swap(NumberList& other) noexcept {
    std::swap(numbers_, other.numbers_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  void move_to(std::uint32_t capacity) {
    Numbers to;
    if (capacity > kNear) to.far = new std::uint32_t[capacity];
    std::copy(begin(), begin() + size_, capacity > kNear ? to.far : to.near);
    if (!is_near()) delete[] numbers_.far;
    numbers_ = to;
    capacity_ = capacity;
  }

  union Numbers {
    std::uint32_t near[kNear] = {};
    std::uint32_t* far;
  } numbers_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kNear;
};

}  // namespace firn::tracker
