// A source, a relay and a receiver in one program, with the codec alone: the source sends coded
// blocks of one generation, half of those to the receiver are lost; the relay sends fresh
// combinations of what it has before it could decode anything; the receiver gets the generation
// back from both.
//
//     c++ -std=c++20 relay.cc $(pkg-config --cflags --libs firn-codec)
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "codec/batch.h"
#include "codec/coding_vectors.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/thread_pool.h"

using namespace firn::codec;
using Bytes = std::vector<std::uint8_t>;

namespace {

constexpr std::size_t kN = 64;        // blocks in the generation
constexpr std::size_t kBytes = 4096;  // in a block

struct Block {
  Bytes vector = Bytes(kN);
  Bytes payload = Bytes(kBytes);
};

std::vector<const std::uint8_t*> pointers(std::span<const std::uint8_t> rows, std::size_t bytes) {
  std::vector<const std::uint8_t*> result;
  for (std::size_t at = 0; at < rows.size(); at += bytes) result.push_back(&rows[at]);
  return result;
}

// A fresh combination of the source blocks.
Block encoded(Executor& threads, std::span<const std::uint8_t> generation, CodingVectors& vectors) {
  Block block;
  block.vector = vectors.next();
  std::uint8_t* const out[] = {block.payload.data()};
  encode_batch(threads, kernels(), pointers(generation, kBytes), kBytes, block.vector, out);
  return block;
}

// A fresh combination of blocks that were received.
Block recoded(Executor& threads, std::span<const Block> held, CoefficientStream& random) {
  std::vector<const std::uint8_t*> vectors, payloads;
  for (const Block& block : held) {
    vectors.push_back(block.vector.data());
    payloads.push_back(block.payload.data());
  }
  Block block;
  std::uint8_t* const vector_out[] = {block.vector.data()};
  std::uint8_t* const payload_out[] = {block.payload.data()};
  recode_batch(threads, kernels(), {kN, kBytes, vectors, payloads}, random_mix(held.size(), random),
               vector_out, payload_out);
  return block;
}

}  // namespace

int main() {
  CoefficientStream random(2009, 0);
  Bytes generation(kN * kBytes);
  random.fill(generation);

  ThreadPool threads(2);
  CodingVectors vectors(CoefficientMode::kDense, kN, CoefficientStream(2009, 1));
  std::vector<Block> relay;  // independent rows only; SpanBasis tells which are
  SpanBasis relay_span(kN);
  ProgressiveDecoder receiver(kN, kBytes, ProgressiveDecoder::Mode::kPanel);
  std::size_t received = 0;
  for (int round = 0; !receiver.complete(); ++round) {
    const Block to_relay = encoded(threads, generation, vectors);
    if (relay_span.insert(to_relay.vector)) relay.push_back(to_relay);
    const Block from_relay = recoded(threads, relay, random);
    receiver.add(from_relay.vector, from_relay.payload);
    ++received;
    if (receiver.complete()) break;
    const Block from_source = encoded(threads, generation, vectors);
    if (round % 2 == 0) continue;  // lost
    receiver.add(from_source.vector, from_source.payload);
    ++received;
  }
  const bool right = std::ranges::equal(receiver.decoded(), generation);
  std::printf("%s: rank %zu from %zu blocks, the relay held %zu\n", right ? "right" : "wrong",
              receiver.rank(), received, relay.size());
  return right ? 0 : 1;
}
