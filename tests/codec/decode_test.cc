#include "codec/decode.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "codec/encode.h"
#include "codec/gf256.h"
#include "tests/codec/generation.h"

namespace firn::codec {
namespace {

struct Shape {
  std::size_t n, k;
};
const Shape kShapes[] = {{1, 1}, {2, 1}, {5, 3}, {16, 64}, {33, 100}, {64, 1000}, {200, 257}};

bool decode(const Kernels& kernels, const Generation& generation,
            const std::vector<CodedBlock>& blocks, Bytes& out) {
  std::vector<const std::uint8_t*> vectors, payloads;
  for (const CodedBlock& block : blocks) {
    vectors.push_back(block.vector.data());
    payloads.push_back(block.payload.data());
  }
  out.assign(generation.n * generation.k, 0xee);
  return decode_generation(kernels, generation.n, generation.k, vectors, payloads, out);
}

// n innovative blocks, `systematic` of them source blocks, in random order.
std::vector<CodedBlock> innovative_blocks(const Generation& generation, std::size_t systematic,
                                          CoefficientStream& random) {
  std::vector<std::size_t> order(generation.n);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  shuffle(order, random);
  SpanBasis basis(generation.n);
  std::vector<CodedBlock> blocks;
  for (std::size_t i = 0; i < systematic; ++i) {
    blocks.push_back(generation.systematic(order[i]));
    basis.insert(blocks.back().vector);
  }
  while (!basis.full()) {
    CodedBlock block = generation.dense(random);
    if (basis.insert(block.vector)) blocks.push_back(std::move(block));
  }
  shuffle(blocks, random);
  return blocks;
}

TEST_CASE("a matrix times its inverse is the identity") {
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    CoefficientStream random(40, 0);
    for (const std::size_t n : {1, 2, 3, 17, 63, 64, 65, 127, 130, 200}) {
      CAPTURE(n);
      Bytes matrix, inverse(n * n);
      do matrix = random_bytes(n * n, random);
      while (!invert_matrix(matrix, n, inverse, *kernels));
      for (std::size_t r = 0; r < n; ++r) {
        Bytes row(n);
        for (std::size_t j = 0; j < n; ++j) {
          kScalarKernels.multiply_add(row.data(), &inverse[j * n], matrix[r * n + j], n);
        }
        REQUIRE(row == unit_vector(n, r));
      }
    }
  }
}

TEST_CASE("a matrix whose pivots stand off the diagonal is inverted") {
  // A scaled cyclic permutation: every step exchanges rows, also with rows of later blocks.
  for (const std::size_t n : {7, 150}) {
    CAPTURE(n);
    Bytes matrix(n * n), inverse(n * n), expected(n * n);
    for (std::size_t r = 0; r < n; ++r) {
      const std::size_t c = (r + 3) % n;
      const auto value = static_cast<std::uint8_t>(r + 2);
      matrix[r * n + c] = value;
      expected[c * n + r] = gf_inverse(value);
    }
    REQUIRE(invert_matrix(matrix, n, inverse));
    CHECK(inverse == expected);
  }
}

TEST_CASE("a singular matrix has no inverse") {
  CoefficientStream random(41, 0);
  for (const std::size_t n : {1, 2, 9, 64, 65, 150}) {
    CAPTURE(n);
    Bytes out(n * n);
    CHECK_FALSE(invert_matrix(Bytes(n * n), n, out));
    Bytes matrix = random_bytes(n * n, random);
    // The last row becomes a combination of the others.
    std::fill_n(&matrix[(n - 1) * n], n, std::uint8_t{0});
    for (std::size_t r = 0; r + 1 < n; ++r) {
      kScalarKernels.multiply_add(&matrix[(n - 1) * n], &matrix[r * n],
                                  static_cast<std::uint8_t>(r + 1), n);
    }
    CHECK_FALSE(invert_matrix(matrix, n, out));
  }
}

TEST_CASE("n innovative blocks decode in any order, with any share of source blocks") {
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    for (const Shape& shape : kShapes) {
      const std::size_t n = shape.n, k = shape.k;
      CAPTURE(n);
      CAPTURE(k);
      CoefficientStream random(42, n);
      const Generation generation(n, k, random);
      for (const std::size_t systematic : {std::size_t{0}, std::size_t{1}, n / 2, n - 1, n}) {
        CAPTURE(systematic);
        Bytes out;
        REQUIRE(
            decode(*kernels, generation, innovative_blocks(generation, systematic, random), out));
        REQUIRE(out == generation.source);
      }
    }
  }
}

TEST_CASE("a source block that arrives multiplied decodes") {
  CoefficientStream random(43, 0);
  const Generation generation(6, 50, random);
  auto blocks = innovative_blocks(generation, 3, random);
  for (CodedBlock& block : blocks) {
    for (std::uint8_t& c : block.vector) c = gf_multiply(c, 0x8e);
    block = generation.encode(block.vector);
  }
  Bytes out;
  REQUIRE(decode(kernels(), generation, blocks, out));
  CHECK(out == generation.source);
}

TEST_CASE("blocks without full rank do not decode") {
  CoefficientStream random(44, 0);
  const Generation generation(12, 20, random);
  for (const std::size_t systematic : {std::size_t{0}, std::size_t{5}, std::size_t{12}}) {
    CAPTURE(systematic);
    const auto blocks = innovative_blocks(generation, systematic, random);
    Bytes out;
    auto repeated = blocks;
    repeated[3] = repeated[8];
    CHECK_FALSE(decode(kernels(), generation, repeated, out));
    auto zero = blocks;
    zero[4] = generation.encode(Bytes(12));
    CHECK_FALSE(decode(kernels(), generation, zero, out));
    auto dependent = blocks;
    Bytes sum(12);
    for (std::size_t i = 1; i < 12; ++i) {
      kScalarKernels.multiply_add(sum.data(), blocks[i].vector.data(), 0x35, 12);
    }
    dependent[0] = generation.encode(sum);
    CHECK_FALSE(decode(kernels(), generation, dependent, out));
  }
}

TEST_CASE("decoding leaves vectors and payloads as they were") {
  CoefficientStream random(45, 0);
  const Generation generation(10, 300, random);
  const auto blocks = innovative_blocks(generation, 4, random);
  const auto before = blocks;
  Bytes out;
  REQUIRE(decode(kernels(), generation, blocks, out));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    REQUIRE(blocks[i].vector == before[i].vector);
    REQUIRE(blocks[i].payload == before[i].payload);
  }
}

using Mode = ProgressiveDecoder::Mode;
constexpr Mode kModes[] = {Mode::kBulk, Mode::kPanel, Mode::kTextbook};

TEST_CASE("the progressive decoder gives the source blocks in every mode") {
  for (const Kernels* kernels : {available_kernels().front(), &kScalarKernels}) {
    for (const Shape& shape : kShapes) {
      const std::size_t n = shape.n, k = shape.k;
      CAPTURE(n);
      CAPTURE(k);
      CoefficientStream random(46, n);
      const Generation generation(n, k, random);
      std::vector<ProgressiveDecoder> decoders;
      for (const Mode mode : kModes) decoders.emplace_back(n, k, mode, *kernels);
      for (std::size_t sent = 0; !decoders[0].complete(); ++sent) {
        REQUIRE(sent < 4 * n + 20);
        const CodedBlock block =
            random.below(2) == 0
                ? generation.systematic(random.below(static_cast<std::uint32_t>(n)))
                : generation.dense(random);
        const std::size_t rank = decoders[0].rank();
        const Innovation innovation = decoders[0].add(block.vector, block.payload);
        REQUIRE(decoders[1].add(block.vector, block.payload) == innovation);
        REQUIRE(decoders[2].add(block.vector, block.payload) == innovation);
        for (const ProgressiveDecoder& decoder : decoders) {
          REQUIRE(decoder.rank() == rank + (innovation == Innovation::kRedundant ? 0 : 1));
          REQUIRE((innovation == Innovation::kComplete) == decoder.complete());
        }
      }
      for (ProgressiveDecoder& decoder : decoders) {
        Bytes out(n * k);
        decoder.decode(out);
        REQUIRE(out == generation.source);
        const CodedBlock late = generation.dense(random);
        REQUIRE(decoder.add(late.vector, late.payload) == Innovation::kRedundant);
      }
      REQUIRE(std::ranges::equal(decoders[1].decoded(), generation.source));
    }
  }
}

// n innovative blocks, two redundant ones (one repeated, one the sum of two) and a zero vector.
std::vector<CodedBlock> blocks_with_redundant_ones(const Generation& generation,
                                                   CoefficientStream& random) {
  auto blocks = innovative_blocks(generation, generation.n / 2, random);
  blocks.push_back(blocks[0]);
  Bytes sum = blocks[0].vector;
  kScalarKernels.multiply_add(sum.data(), blocks.back().vector.data(), 9, generation.n);
  kScalarKernels.multiply_add(sum.data(), blocks[generation.n - 1].vector.data(), 1, generation.n);
  blocks.push_back(generation.encode(sum));
  blocks.push_back(generation.encode(Bytes(generation.n)));
  return blocks;
}

TEST_CASE("every arrival order decodes, redundant blocks anywhere") {
  CoefficientStream random(47, 0);
  for (const std::size_t n : {1, 2, 3, 4}) {
    CAPTURE(n);
    const Generation generation(n, 5, random);
    const auto blocks = blocks_with_redundant_ones(generation, random);
    std::vector<std::size_t> order(blocks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    do {
      for (const Mode mode : kModes) {
        ProgressiveDecoder decoder(n, 5, mode);
        for (const std::size_t i : order) decoder.add(blocks[i].vector, blocks[i].payload);
        REQUIRE(decoder.complete());
        Bytes out(n * 5);
        decoder.decode(out);
        REQUIRE(out == generation.source);
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE("random arrival orders of larger generations decode") {
  CoefficientStream random(48, 0);
  for (const std::size_t n : {5, 31, 32, 100}) {
    CAPTURE(n);
    const Generation generation(n, 70, random);
    auto blocks = blocks_with_redundant_ones(generation, random);
    for (int round = 0; round < 5; ++round) {
      shuffle(blocks, random);
      for (const Mode mode : kModes) {
        ProgressiveDecoder decoder(n, 70, mode);
        for (const CodedBlock& block : blocks) decoder.add(block.vector, block.payload);
        REQUIRE(decoder.complete());
        Bytes out(n * 70);
        decoder.decode(out);
        REQUIRE(out == generation.source);
      }
    }
  }
}

TEST_CASE("large generations decode, short blocks among them") {
  CoefficientStream random(49, 0);
  for (const Shape& shape : {Shape{512, 1024}, Shape{600, 1}, Shape{1024, 1024}}) {
    const std::size_t n = shape.n, k = shape.k;
    CAPTURE(n);
    CAPTURE(k);
    const Bytes source = random_bytes(n * k, random);
    Bytes vectors, inverse(n * n), payloads(n * k), out(n * k);
    do vectors = random_bytes(n * n, random);
    while (!invert_matrix(vectors, n, inverse));
    std::vector<const std::uint8_t*> blocks, vector_rows, payload_rows;
    std::vector<std::uint8_t*> coded;
    for (std::size_t i = 0; i < n; ++i) {
      blocks.push_back(&source[i * k]);
      vector_rows.push_back(&vectors[i * n]);
      coded.push_back(&payloads[i * k]);
      payload_rows.push_back(&payloads[i * k]);
    }
    kernels().combine_rows(coded.data(), n, blocks.data(), n, vectors.data(), n, k);
    REQUIRE(decode_generation(kernels(), n, k, vector_rows, payload_rows, out));
    REQUIRE(out == source);
    ProgressiveDecoder panel(n, k, Mode::kPanel);
    for (std::size_t i = 0; i < n; ++i) panel.add({vector_rows[i], n}, {payload_rows[i], k});
    REQUIRE(panel.complete());
    REQUIRE(std::ranges::equal(panel.decoded(), source));
  }
}

}  // namespace
}  // namespace firn::codec
