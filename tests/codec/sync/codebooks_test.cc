// The constructions of codebooks.
#include "codec/sync/codebooks.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "codec/random.h"
#include "codec/sync/tvb_code.h"

namespace firn::codec::sync {
namespace {

// The textbook's table.
std::size_t plain_common_subsequence(std::uint32_t a, std::uint32_t b, std::size_t n) {
  std::vector<std::vector<std::size_t>> length(n + 1, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      length[i + 1][j + 1] = (a >> i & 1) == (b >> j & 1)
                                 ? length[i][j] + 1
                                 : std::max(length[i][j + 1], length[i + 1][j]);
    }
  }
  return length[n][n];
}

TEST_CASE("the longest common subsequence is that of the textbook's table") {
  CoefficientStream random(1, 0);
  for (std::size_t n = 1; n <= 32; ++n) {
    for (int i = 0; i < 40; ++i) {
      const auto a = static_cast<std::uint32_t>(random.next_u64());
      const auto b = static_cast<std::uint32_t>(random.next_u64());
      REQUIRE(common_subsequence(a, b, n) == plain_common_subsequence(a, b, n));
    }
  }
}

std::size_t least_distance(const std::vector<std::uint32_t>& books, std::size_t n, std::size_t q) {
  std::size_t least = 2 * n;
  for (std::size_t first = 0; first < books.size(); first += q) {
    for (std::size_t a = 0; a < q; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        least =
            std::min(least, 2 * (n - common_subsequence(books[first + a], books[first + b], n)));
      }
    }
  }
  return least;
}

TEST_CASE("greedy books keep the indel distance they were asked for") {
  struct Shape {
    std::size_t n, q, distance;
  };
  for (const Shape s : {Shape{8, 16, 4}, Shape{10, 32, 4}, Shape{10, 64, 4}, Shape{14, 256, 4},
                        Shape{16, 256, 4}, Shape{12, 16, 6}}) {
    CAPTURE(s.n);
    CAPTURE(s.q);
    const std::size_t count = s.q == 256 ? 1 : 4;
    const auto books = indel_books(s.n, s.q, s.distance, count, 7);
    REQUIRE(books.size() == count * s.q);
    CHECK(least_distance(books, s.n, s.q) >= s.distance);
    CHECK(TvbCode::make(s.n, s.q, 10, books));
    CHECK(indel_books(s.n, s.q, s.distance, count, 7) == books);
    CHECK(indel_books(s.n, s.q, s.distance, count, 8) != books);
  }
}

TEST_CASE("books that cannot be found are not given") {
  CHECK(indel_books(6, 16, 4, 1, 1).empty());
  CHECK(indel_books(2, 4, 4, 1, 1).empty());
}

TEST_CASE("random books hold distinct words of n bits, up to all of them") {
  for (const std::size_t n : {1, 4, 16, 17, 20, 32}) {
    CAPTURE(n);
    const std::size_t q = n == 4 ? 16 : 2 << (n / 4);
    const auto books = random_books(n, q, 3, 5);
    REQUIRE(books.size() == 3 * q);
    CHECK(TvbCode::make(n, q, 3, books));
    CHECK(random_books(n, q, 3, 5) == books);
  }
}

TEST_CASE("words of a marker book differ in the bits of the symbol alone") {
  const std::size_t n = 10, q = 32;
  const auto books = marker_books(n, q, 4, 3);
  REQUIRE(TvbCode::make(n, q, 4, books));
  constexpr std::uint32_t kMarker =
      0b0001111100;  // between two bits at the start, three at the end
  for (std::size_t book = 0; book < 4; ++book) {
    for (std::size_t symbol = 0; symbol < q; ++symbol) {
      CHECK((books[book * q + symbol] & kMarker) == (books[book * q] & kMarker));
    }
  }
}

}  // namespace
}  // namespace firn::codec::sync
