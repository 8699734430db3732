// Three ways to make the codebooks of a TvbCode. All give `count` books of q distinct words of n
// bits, row-major [count][q], as TvbCode::make takes them; the same seed gives the same books on
// every machine. n is in 1..32 and 2 <= q <= 2^n.
//
// Indel distance of two words of n bits: 2 (n - length of their longest common subsequence), the
// fewest deletions and insertions that make one of the other. Books with a distance of 4 have 4
// to 5 times fewer symbol errors than random ones at P_i = P_d = 0.01 (note 043).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace firn::codec::sync {

// As many books as the figures of note 043 were measured with.
inline constexpr std::size_t kBookCount = 16;

// The length of the longest common subsequence of the low n bits of two words, n <= 32.
std::size_t common_subsequence(std::uint32_t a, std::uint32_t b, std::size_t n);

// Words drawn uniformly, without repetition.
std::vector<std::uint32_t> random_books(std::size_t n, std::size_t q, std::size_t count,
                                        std::uint64_t seed);

// Words taken greedily in a random order, each at an indel distance of at least `distance` from
// those before. A book that does not fill is begun again with another order, a few hundred times;
// empty if that finds none. Feasible are for distance 4 (n, q) = (8, 16), (10, 32), (10, 64),
// (14, 256), (16, 256), and for distance 6 (12, 16), (16, 256); not (7, 16), (12, 256) with 4,
// (10, 32) with 6.
std::vector<std::uint32_t> indel_books(std::size_t n, std::size_t q, std::size_t distance,
                                       std::size_t count, std::uint64_t seed);

// Markers: the bits of the symbol stand at both ends of the word, a random pattern that is the same
// for all symbols of a book in the middle. q is a power of two. The classical rival, for
// comparison.
std::vector<std::uint32_t> marker_books(std::size_t n, std::size_t q, std::size_t count,
                                        std::uint64_t seed);

}  // namespace firn::codec::sync
