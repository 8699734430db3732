#include "codec/decode.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "codec/span_basis.h"
#include "on_device.h"

namespace firn::cuda {
namespace {

// What the CPU says of one matrix: which rows are combinations of rows above them.
Bytes dependent_rows(const Bytes& matrix, std::size_t n) {
  codec::SpanBasis basis(n);
  Bytes dependent;
  for (std::size_t r = 0; r < n; ++r) {
    dependent.push_back(!basis.insert(std::span(matrix).subspan(r * n, n)));
  }
  return dependent;
}

// Random matrices of one size, made worse: every second one gets rows that depend on others, zero
// rows, zero columns, or is sparse or binary, so that pivots are far apart and some are missing.
std::vector<Bytes> difficult_matrices(std::size_t n, std::size_t count,
                                      codec::CoefficientStream& random) {
  std::vector<Bytes> matrices;
  for (std::size_t i = 0; i < count; ++i) {
    Bytes matrix = random_bytes(n * n, random);
    const auto row = [&](std::size_t r) {
      return matrix.begin() + static_cast<std::ptrdiff_t>(r * n);
    };
    const std::size_t a = random.below(static_cast<std::uint32_t>(n));
    const std::size_t b = random.below(static_cast<std::uint32_t>(n));
    switch (i % 8) {
      case 1:  // a copy, unless it is the row itself
        std::copy_n(row(a), n, row(b));
        break;
      case 3:
        std::fill_n(row(a), n, 0);
        break;
      case 5:  // sparse: one in n is not zero, so almost surely singular for larger n
        for (std::uint8_t& c : matrix) {
          if (random.below(static_cast<std::uint32_t>(n)) != 0) c = 0;
        }
        break;
      case 6:  // binary: singular with probability 0.71
        for (std::uint8_t& c : matrix) c &= 1;
        break;
      case 7:  // two columns are zero
        for (std::size_t r = 0; r < n; ++r) matrix[r * n + a] = matrix[r * n + b] = 0;
        break;
      default:
        break;
    }
    matrices.push_back(std::move(matrix));
  }
  // A permutation with factors: every pivot is in another row than its column.
  Bytes permutation(n * n);
  for (std::size_t r = 0; r < n; ++r) {
    permutation[r * n + (n - 1 - r)] = static_cast<std::uint8_t>(1 + r % 255);
  }
  matrices.push_back(permutation);
  return matrices;
}

Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

struct RanksOnDevice {
  Guarded ranks, dependent;
  RanksOnDevice(Stream& stream, std::size_t generations, std::size_t n)
      : ranks(stream, generations * sizeof(std::uint32_t)), dependent(stream, generations * n) {}
  Ranks pointers() const {
    return {reinterpret_cast<std::uint32_t*>(ranks.data()), dependent.data()};
  }
  std::vector<std::uint32_t> read_ranks() {
    const Bytes bytes = ranks.read();
    std::vector<std::uint32_t> values(bytes.size() / 4);
    std::copy_n(bytes.begin(), bytes.size(), reinterpret_cast<std::uint8_t*>(values.data()));
    return values;
  }
};

void check_inverses(OnDevice& on, const std::vector<Bytes>& matrices, std::size_t n,
                    std::size_t offset = 0) {
  INFO("n=", n, " offset=", offset);
  const std::size_t count = matrices.size();
  Guarded in(on.stream, joined(matrices), offset), out(on.stream, count * n * n, offset);
  RanksOnDevice found(on.stream, count, n);
  const ScratchSize size = inverse_scratch(on.device, count, n);
  Guarded scratch(on.stream, size.best);
  require(launch_inverse(on.stream, count, n, in.data(), out.data(), found.pointers(),
                         {scratch.data(), size.best}));
  const Bytes inverses = out.read(), dependent = found.dependent.read();
  const std::vector<std::uint32_t> ranks = found.read_ranks();
  for (std::size_t i = 0; i < count; ++i) {
    INFO("matrix ", i);
    const Bytes wanted = dependent_rows(matrices[i], n);
    check_equal(Bytes(dependent.begin() + static_cast<std::ptrdiff_t>(i * n),
                      dependent.begin() + static_cast<std::ptrdiff_t>((i + 1) * n)),
                wanted);
    CHECK(ranks[i] == n - static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), 1)));
    Bytes inverse(n * n);
    if (codec::invert_matrix(matrices[i], n, inverse)) {
      check_equal(Bytes(inverses.begin() + static_cast<std::ptrdiff_t>(i * n * n),
                        inverses.begin() + static_cast<std::ptrdiff_t>((i + 1) * n * n)),
                  inverse);
    } else {
      CHECK(ranks[i] < n);
    }
  }
}

// Five generations of coded blocks, of which one lacks rank.
void check_decoding(OnDevice& on, std::size_t n, std::size_t k, Path path,
                    codec::CoefficientStream& random) {
  const std::size_t count = 5, pitch = fast_pitch(k);
  const Shape shape{count, n, n, k};
  INFO(describe(shape), " path=", name(path));
  // Systematic rows among dense ones, out of order; the fourth generation lacks rank.
  Bytes vectors = random_bytes(count * n * n, random);
  for (std::size_t g = 0; g < count; ++g) {
    for (std::size_t r = 0; r < n; r += 3) {
      const auto row = vectors.begin() + static_cast<std::ptrdiff_t>((g * n + r) * n);
      std::fill_n(row, n, 0);
      row[static_cast<std::ptrdiff_t>(n - 1 - r)] = 1;
    }
  }
  std::fill_n(vectors.begin() + static_cast<std::ptrdiff_t>(3 * n * n + (n - 1) * n), n, 0);
  const Bytes source = random_bytes(count * n * pitch, random);
  Bytes payloads(source.size());
  multiply_on_cpu(shape, vectors, source, pitch, payloads, pitch);

  Guarded v(on.stream, vectors), y(on.stream, payloads), x(on.stream, source.size());
  RanksOnDevice found(on.stream, count, n);
  const ScratchSize size = decode_scratch(on.device, shape, path);
  for (const std::size_t bytes : {size.best, size.least * 2}) {
    Guarded scratch(on.stream, bytes);
    require(launch_decode(on.stream, shape, v.data(), {y.data(), pitch}, {x.data(), pitch},
                          found.pointers(), {scratch.data(), bytes}, path));
    const Bytes decoded = x.read();
    const Bytes dependent = found.dependent.read();
    const std::vector<std::uint32_t> ranks = found.read_ranks();
    scratch.read();
    for (std::size_t g = 0; g < count; ++g) {
      const Bytes matrix(vectors.begin() + static_cast<std::ptrdiff_t>(g * n * n),
                         vectors.begin() + static_cast<std::ptrdiff_t>((g + 1) * n * n));
      const Bytes wanted = dependent_rows(matrix, n);
      CHECK(std::equal(wanted.begin(), wanted.end(),
                       dependent.begin() + static_cast<std::ptrdiff_t>(g * n)));
      const auto lacking = static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), 1));
      CHECK(ranks[g] == n - lacking);
      CHECK((g != 3 || lacking > 0));
      if (lacking > 0) continue;
      for (std::size_t block = 0; block < n; ++block) {
        const auto at = static_cast<std::ptrdiff_t>((g * n + block) * pitch);
        CHECK(std::equal(source.begin() + at, source.begin() + at + static_cast<std::ptrdiff_t>(k),
                         decoded.begin() + at));
      }
    }
  }
}

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("inverses, ranks and dependent rows are the CPU's") {
    OnDevice on;
    codec::CoefficientStream random(3, 1);
    for (const std::size_t n : {1,   2,   3,   4,   5,   31,  32,  33,  63,  64,  65,
                                100, 127, 128, 129, 130, 159, 160, 161, 255, 256, 257}) {
      check_inverses(on, difficult_matrices(n, 24, random), n);
    }
  }

  TEST_CASE("large generations are inverted too") {
    OnDevice on;
    codec::CoefficientStream random(3, 2);
    for (const std::size_t n : {511, 512, 513, 1023, 1024}) {
      check_inverses(on, difficult_matrices(n, 8, random), n);
    }
  }

  TEST_CASE("many matrices are inverted at once, from any alignment") {
    OnDevice on;
    codec::CoefficientStream random(3, 3);
    check_inverses(on, difficult_matrices(16, 3000, random), 16, 1);
    check_inverses(on, difficult_matrices(128, 600, random), 128, 3);
    check_inverses(on, difficult_matrices(140, 200, random), 140, 1);
  }

  TEST_CASE("coded blocks decode into source-block order, and generations that lack rank say so") {
    OnDevice on;
    codec::CoefficientStream random(3, 4);
    for (const Path path : paths_of(on.device)) {
      for (const auto& [n, k] : {std::pair<std::size_t, std::size_t>{1, 5},
                                 {32, 300},
                                 {64, 600},
                                 {100, 257},
                                 {128, 100},
                                 {129, 300}}) {
        check_decoding(on, n, k, path, random);
      }
    }
  }

  TEST_CASE("so do large generations and long blocks") {
    OnDevice on;
    codec::CoefficientStream random(3, 5);
    for (const Path path : paths_of(on.device)) {
      for (const auto& [n, k] : {std::pair<std::size_t, std::size_t>{32, 1000},
                                 {64, 4096},
                                 {128, 1024},
                                 {256, 513},
                                 {512, 512},
                                 {1024, 100}}) {
        check_decoding(on, n, k, path, random);
      }
    }
  }

  TEST_CASE("scratch memory that is too little is refused") {
    OnDevice on;
    Guarded memory(on.stream, 1 << 20);
    RanksOnDevice found(on.stream, 1, 256);
    const ScratchSize size = decode_scratch(on.device, {1, 256, 256, 16});
    CHECK(launch_decode(on.stream, {1, 256, 256, 16}, memory.data(), {memory.data(), 16},
                        {memory.data(), 16}, found.pointers(), {memory.data(), size.least - 256})
              .code == Code::kUnsupported);
  }
}

}  // namespace firn::cuda
