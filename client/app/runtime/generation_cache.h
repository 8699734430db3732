// The bytes of verified generations that are being served: least recently used go first.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#include "client/app/runtime/buffer_pool.h"

namespace firn::app {

// One thread. Shared by all contents of a process; a user picks an `owner` number of its own.
class GenerationCache {
 public:
  // Holds at most `bytes_max`, but always the generation used last, however large.
  explicit GenerationCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Null if it is not here. Counts as a use.
  SharedBuffer find(std::uint32_t owner, std::uint32_t generation);
  // Replaces what was there.
  void insert(std::uint32_t owner, std::uint32_t generation, SharedBuffer data);
  void erase(std::uint32_t owner, std::uint32_t generation);

  std::size_t bytes() const { return bytes_; }
  std::size_t bytes_max() const { return bytes_max_; }

 private:
  struct Entry {
    std::uint64_t key;
    SharedBuffer data;
  };
  static std::uint64_t key_of(std::uint32_t owner, std::uint32_t generation) {
    return std::uint64_t{owner} << 32 | generation;
  }

  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::uint64_t, std::list<Entry>::iterator> by_key_;
};

}  // namespace firn::app
