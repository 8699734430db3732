// A decoder is given any coding vectors in any order, with payloads that fit them. Input: n - 1,
// k - 1, choice of kernels, then rows: a byte that says how a vector is made, and what that takes.
#include <algorithm>
#include <vector>

#include "codec/decode.h"
#include "codec/encode.h"
#include "proto/base/result.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::decoder {
using namespace firn::codec;

namespace {

using Bytes = std::vector<std::uint8_t>;

struct Input {
  const std::uint8_t* data;
  std::size_t left;

  std::uint8_t next() {
    if (left == 0) return 0;
    --left;
    return *data++;
  }
};

Bytes next_vector(Input& input, std::size_t n, const std::vector<Bytes>& before) {
  Bytes vector(n);
  const std::uint8_t how = input.next();
  switch (how % 4) {
    case 0:
      vector[input.next() % n] = input.next();
      break;
    case 1:
      for (std::uint8_t& c : vector) c = input.next();
      break;
    case 2:  // few coefficients, spread out
      for (int i = 0; i < 3; ++i) vector[input.next() * 7u % n] = input.next();
      break;
    default:  // a combination of two rows before
      for (int i = 0; i < 2 && !before.empty(); ++i) {
        const Bytes& row = before[input.next() % before.size()];
        kScalarKernels.multiply_add(vector.data(), row.data(), input.next(), n);
      }
  }
  return vector;
}

void check_modes(Input input, std::size_t n, std::size_t k, const Kernels& kernels) {
  using Mode = ProgressiveDecoder::Mode;
  Bytes source(n * k);
  CoefficientStream(n, k).fill(source);
  std::vector<const std::uint8_t*> blocks;
  for (std::size_t i = 0; i < n; ++i) blocks.push_back(&source[i * k]);

  ProgressiveDecoder decoders[] = {{n, k, Mode::kBulk, kernels},
                                   {n, k, Mode::kPanel, kernels},
                                   {n, k, Mode::kTextbook, kernels},
                                   {n, k, Mode::kTextbook, kScalarKernels}};
  SpanBasis basis(n, kernels);
  std::vector<Bytes> vectors, payloads;
  while (input.left > 0 && vectors.size() < 2 * n + 8) {
    vectors.push_back(next_vector(input, n, vectors));
    const Bytes& vector = vectors.back();
    payloads.emplace_back(k);
    kScalarKernels.combine(payloads.back().data(), blocks.data(), vector.data(), n, k);
    const bool innovative = basis.is_innovative(vector);
    FIRN_CHECK(basis.insert(vector) == innovative);
    for (ProgressiveDecoder& decoder : decoders) {
      const Innovation innovation = decoder.add(vector, payloads.back());
      FIRN_CHECK((innovation != Innovation::kRedundant) == innovative);
      FIRN_CHECK(decoder.rank() == basis.rank());
    }
  }
  FIRN_CHECK(basis.rank() <= vectors.size());

  // Any n rows at once: decoded exactly if they have full rank.
  if (vectors.size() >= n) {
    std::vector<const std::uint8_t*> vector_rows, payload_rows;
    SpanBasis of_last(n, kScalarKernels);
    for (std::size_t i = vectors.size() - n; i < vectors.size(); ++i) {
      of_last.insert(vectors[i]);
      vector_rows.push_back(vectors[i].data());
      payload_rows.push_back(payloads[i].data());
    }
    Bytes out(n * k);
    const bool decoded = decode_generation(kernels, n, k, vector_rows, payload_rows, out);
    FIRN_CHECK(decoded == of_last.full());
    FIRN_CHECK(!decoded || out == source);
  }
  if (!basis.full()) {
    CoefficientStream random(1, 2);
    const Bytes z = basis.random_null_vector(random);
    for (const Bytes& vector : vectors) FIRN_CHECK(dot(vector, z) == 0);
    return;
  }
  for (const ProgressiveDecoder& decoder : decoders) {
    Bytes out(n * k);
    decoder.decode(out);
    FIRN_CHECK(out == source);
  }
}

}  // namespace

FIRN_FUZZ_TARGET(decoder) {
  Input input{data, size};
  const std::size_t n = 1 + input.next() % 80, k = 1 + input.next() % 70;
  const auto available = available_kernels();
  const Kernels& kernels = *available[input.next() % available.size()];
  check_modes(input, n, k, kernels);
  return 0;
}

}  // namespace firn::fuzz::decoder
