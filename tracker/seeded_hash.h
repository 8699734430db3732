// SipHash-1-3 (Aumasson and Bernstein, 2012) of whole words, for hash tables whose keys strangers
// choose: without the seed nobody can make keys that fall into one bucket.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace firn::tracker {

// Any thread. The key's first half is the seed, the second one is zero.
class SeededHash {
 public:
  explicit SeededHash(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t seed() const { return seed_; }

  template <std::size_t kCount>
  std::uint64_t operator()(const std::array<std::uint64_t, kCount>& words) const {
    State state{seed_ ^ 0x736f6d6570736575, 0x646f72616e646f6d, seed_ ^ 0x6c7967656e657261,
                0x7465646279746573};
    for (const std::uint64_t word : words) state.add(word);
    state.add(std::uint64_t{8 * kCount} << 56);
    state.v2 ^= 0xff;
    for (int i = 0; i < 3; ++i) state.round();
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
  }

 private:
  struct State {
    std::uint64_t v0, v1, v2, v3;

    void add(std::uint64_t word) {
      v3 ^= word;
      round();
      v0 ^= word;
    }
    void round() {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  };

  std::uint64_t seed_;
};

}  // namespace firn::tracker
