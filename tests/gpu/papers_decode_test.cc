// The papers' decoders: source blocks come back in order, whatever the order of pivots, and what
// cannot be decoded is reported by its rank.
#include "papers_problem.h"

namespace firn::cuda::papers {
namespace {

template <class Check>
void for_each_decoder(const Check& check) {
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.kind == Kind::kDecode) check(algorithm);
  }
}

bool takes(PaperDevice& device, const Algorithm& algorithm, const Sizes& sizes) {
  return sizes.n <= generation_size_max(algorithm, device.context()) &&
         ((algorithm.traits & kSquare) == 0 || sizes.m == sizes.n);
}

void check_decoding(PaperDevice& device, const Algorithm& algorithm, const Problem& problem) {
  INFO(describe(algorithm, problem.sizes));
  std::vector<int> ranks;
  const Bytes out = device.decode(algorithm, problem, ranks);
  CHECK(ranks == std::vector<int>(ranks.size(), problem.sizes.n));
  check_equal(out, problem.source);
}

// Every segment decodable: seeds are tried until it is so. With `extra` rows beyond n there are
// dependent ones among the first.
Problem decodable(const Sizes& sizes, bool binary) {
  for (std::uint64_t seed = 100;; ++seed) {
    Problem problem = make_problem(sizes, seed);
    if (binary) make_binary(problem);
    if (sizes.m > sizes.n) {
      const auto m = static_cast<std::size_t>(sizes.m);
      for (std::size_t g = 0; g < static_cast<std::size_t>(sizes.segments); ++g) {
        std::fill_n(problem.row(g * m), sizes.n, std::uint8_t{0});
        if (m > 4) std::copy_n(problem.row(g * m + 1), sizes.n, problem.row(g * m + 2));
      }
      encode_on_cpu(problem);
    }
    const std::vector<int> ranks = ranks_on_cpu(problem);
    if (std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return rank == sizes.n; })) {
      return problem;
    }
  }
}

// One segment whose pivots come in an unusual order.
Problem with_vectors(const Sizes& sizes, int form) {
  Problem problem = make_problem(sizes, 3);
  codec::CoefficientStream random(17, static_cast<std::uint64_t>(form));
  const auto n = static_cast<std::size_t>(sizes.n);
  std::fill(problem.coefficients.begin(), problem.coefficients.end(), std::uint8_t{0});
  for (std::size_t r = 0; r < n; ++r) {
    const std::size_t pivot = form == 0 ? n - 1 - r : (r * 7 + 3) % n;  // 7 does not divide n
    std::uint8_t* row = problem.row(r);
    row[pivot] = static_cast<std::uint8_t>(1 + random.below(255));
    if (form == 2) {  // lower triangular in the order of pivots
      for (std::size_t earlier = 0; earlier < r; ++earlier) {
        row[(earlier * 7 + 3) % n] = static_cast<std::uint8_t>(random.below(256));
      }
    }
  }
  encode_on_cpu(problem);
  return problem;
}

void check_all(const std::vector<Sizes>& several) {
  PaperDevice device;
  for (const Sizes& sizes : several) {
    const Problem dense = decodable(sizes, false), binary = decodable(sizes, true);
    for_each_decoder([&](const Algorithm& algorithm) {
      if (!takes(device, algorithm, sizes)) return;
      check_decoding(device, algorithm, (algorithm.traits & kBinary) != 0 ? binary : dense);
    });
  }
}

}  // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("every paper's decoder gives the source blocks back one either side of its tiles") {
  check_all({{1, 1, 1, 4},
             {2, 2, 2, 8},
             {1, 3, 3, 12},
             {3, 4, 4, 64},
             {1, 15, 15, 60},
             {2, 16, 16, 64},
             {1, 17, 17, 68},
             {1, 31, 31, 132},
             {2, 32, 32, 128},
             {1, 33, 33, 252}});
}

TEST_CASE("so does it for more and longer blocks") {
  check_all({{1, 63, 63, 1028},
             {5, 64, 64, 4},
             {1, 65, 65, 516},
             {1, 127, 127, 260},
             {2, 128, 128, 1024},
             {1, 129, 129, 4},
             {1, 5, 5, 70000}});
}

TEST_CASE("every paper's decoder takes generations of several hundred blocks") {
  check_all({{1, 257, 257, 36}, {1, 470, 470, 8}, {1, 1024, 1024, 64}});
}

TEST_CASE("progressive decoders pass over zero and repeated blocks") {
  check_all({{1, 1, 3, 4}, {2, 9, 14, 20}, {1, 64, 70, 132}, {2, 33, 40, 516}});
}

TEST_CASE("pivots come in any order") {
  PaperDevice device;
  for (const int n : {5, 32, 99}) {
    for (const int form : {0, 1, 2}) {
      const Problem problem = with_vectors({1, n, n, 52}, form);
      for_each_decoder([&](const Algorithm& algorithm) {
        if ((algorithm.traits & kBinary) != 0) return;
        INFO("form ", form);
        check_decoding(device, algorithm, problem);
      });
    }
  }
}

TEST_CASE("a segment of lower rank is reported and spoils none of its neighbours") {
  PaperDevice device;
  for (const int n : {1, 7, 32, 65}) {
    for (const bool binary : {false, true}) {
      Problem problem = decodable({3, n, n, 20}, binary);
      const auto rows = static_cast<std::size_t>(n);
      // The middle segment's last row becomes its first, or zero if that is the only one.
      std::uint8_t* last = problem.row(2 * rows - 1);
      if (n == 1) {
        *last = 0;
      } else {
        std::copy_n(problem.row(rows), rows, last);
      }
      encode_on_cpu(problem);
      const std::vector<int> wanted = ranks_on_cpu(problem);
      REQUIRE(wanted == std::vector<int>{n, n - 1, n});
      for_each_decoder([&](const Algorithm& algorithm) {
        if (((algorithm.traits & kBinary) != 0) != binary) return;
        INFO(describe(algorithm, problem.sizes));
        std::vector<int> ranks;
        Bytes out = device.decode(algorithm, problem, ranks);
        CHECK(ranks == wanted);
        const auto segment = static_cast<std::ptrdiff_t>(rows * 20);
        std::copy_n(problem.source.begin() + segment, segment, out.begin() + segment);
        check_equal(out, problem.source);
      });
    }
  }
}

TEST_CASE("too few blocks leave the rank below n") {
  PaperDevice device;
  const Problem problem = make_problem({1, 12, 8, 16}, 4);
  for_each_decoder([&](const Algorithm& algorithm) {
    if ((algorithm.traits & (kBinary | kSquare)) != 0) return;
    INFO(algorithm.name);
    std::vector<int> ranks;
    (void)device.decode(algorithm, problem, ranks);
    CHECK(ranks == ranks_on_cpu(problem));
  });
}

TEST_SUITE_END();

}  // namespace firn::cuda::papers
