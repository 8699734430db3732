// A ring of the numbers of generations that changed last. A reader that keeps results about
// generations works out again only those of changed ones. Each reader remembers how far it has
// read; one that has fallen behind the ring must look at all generations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace firn::core {

class RecentChanges {
 public:
  using Position = std::uint64_t;

  // So many changes are kept, four bytes each.
  explicit RecentChanges(std::size_t kept) : ring_(kept) {}

  Position end() const { return end_; }
  void add(std::uint32_t g) { ring_[end_++ % ring_.size()] = g; }
  // Of any generation.
  void add_all() { end_ += ring_.size() + 1; }

  // For each generation changed since then, f(g), some of them several times; false, and nothing is
  // called: it may have been any.
  template <typename F>
  bool each_since(Position from, F&& f) const {
    if (end_ - from > ring_.size()) return false;
    for (; from < end_; ++from) f(ring_[from % ring_.size()]);
    return true;
  }

 private:
  std::vector<std::uint32_t> ring_;
  Position end_ = 0;
};

}  // namespace firn::core
