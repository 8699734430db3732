// Which generations' source blocks devices are likely to have: those that were encoded there last,
// as many as fit (codec::Backend::kept_bytes_max). The coder's thread knows for certain, but a
// decision that waits for it would come too late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

namespace firn::app {

// Owner thread.
class KeptSources {
 public:
  // The generation, of so many bytes, is used now. Those used longest ago go, so that all that stay
  // have `bytes_max` at most.
  void use(std::uint64_t generation_key, std::size_t bytes, std::size_t bytes_max);
  void forget(std::uint64_t generation_key);
  bool contains(std::uint64_t generation_key) const { return by_key_.contains(generation_key); }

 private:
  struct Kept {
    std::uint64_t key;
    std::size_t bytes;
  };
  std::list<Kept> kept_;  // used last first
  std::unordered_map<std::uint64_t, std::list<Kept>::iterator> by_key_;
  std::size_t bytes_ = 0;
};

}  // namespace firn::app
