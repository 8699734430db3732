#include "codec/parallel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "codec/batch.h"
#include "codec/coding_vectors.h"
#include "codec/decode.h"
#include "codec/span_basis.h"
#include "codec/thread_pool.h"
#include "tests/codec/generation.h"

namespace firn::codec {
namespace {

std::vector<std::uint8_t*> rows_of(Bytes& bytes, std::size_t rows) {
  std::vector<std::uint8_t*> result;
  for (std::size_t r = 0; r < rows; ++r) result.push_back(&bytes[r * (bytes.size() / rows)]);
  return result;
}

TEST_CASE("a pool runs every task once, run after run, for several callers") {
  for (const std::size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    std::vector<std::atomic<int>> ran(300);
    const auto call = [&] {
      for (std::size_t count = 0; count <= ran.size(); count += 50) {
        pool.run(count, [&](std::size_t i) { ++ran[i]; });
      }
    };
    std::thread other(call);
    call();
    other.join();
    for (std::size_t i = 0; i < ran.size(); ++i) {
      // Runs of 50, 100, .. 300 tasks, each from both callers.
      REQUIRE(ran[i] == 2 * static_cast<int>(6 - i / 50));
    }
  }
}

TEST_CASE("a product is the same in whole blocks, in pieces and on one thread") {
  CoefficientStream random(90, 0);
  for (const std::size_t threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    for (const std::size_t rows : {1, 4, 9, 30}) {
      for (const std::size_t bytes : {1, 63, 64, 200, 1000, 5000}) {
        CAPTURE(threads);
        CAPTURE(rows);
        CAPTURE(bytes);
        const std::size_t count = 1 + random.below(20);
        const Generation generation(count, bytes, random);
        std::vector<const std::uint8_t*> in;
        for (std::size_t j = 0; j < count; ++j) in.push_back(&generation.source[j * bytes]);
        const Bytes coefficients = random_bytes(rows * count, random);
        Bytes expected(rows * bytes);
        kScalarKernels.combine_rows(rows_of(expected, rows).data(), rows, in.data(), count,
                                    coefficients.data(), count, bytes);
        for (const Partition partition :
             {Partition::kFullBlock, Partition::kPartitioned, Partition::kChosen}) {
          Bytes out(rows * bytes, 0xee);
          multiply_rows(pool, kernels(), rows_of(out, rows).data(), rows, in.data(), count,
                        coefficients.data(), count, bytes, partition);
          REQUIRE(out == expected);
        }
      }
    }
  }
}

// Has threads that all sleep: the caller runs every task, and counts the runs.
class LateThreads : public Executor {
 public:
  std::size_t threads() const override { return 4; }
  void run(std::size_t count, const std::function<void(std::size_t)>& task) override {
    ++runs;
    for (std::size_t i = count; i-- > 0;) task(i);
  }
  int runs = 0;
};

TEST_CASE("a product too small to gain is not divided, and a larger one waits for no thread") {
  CoefficientStream random(94, 0);
  struct Case {
    std::size_t rows, count, bytes;
    int runs;
  };
  // The last: Strassen's form in pieces of whole chunks and a rest.
  for (const Case& c : {Case{8, 16, 4096, 0},
                        {32, 32, 4096, 0},
                        {64, 64, 4096, 1},
                        {8, 128, 10001, 1},
                        {200, 300, 200, 1},
                        {500, 490, 9000, 1}}) {
    CAPTURE(c.rows);
    CAPTURE(c.bytes);
    const Generation generation(c.count, c.bytes, random);
    std::vector<const std::uint8_t*> in;
    for (std::size_t j = 0; j < c.count; ++j) in.push_back(&generation.source[j * c.bytes]);
    const Bytes coefficients = random_bytes(c.rows * c.count, random);
    Bytes expected(c.rows * c.bytes), out(c.rows * c.bytes, 0xee);
    kernels().combine_rows(rows_of(expected, c.rows).data(), c.rows, in.data(), c.count,
                           coefficients.data(), c.count, c.bytes);
    LateThreads threads;
    multiply_rows(threads, kernels(), rows_of(out, c.rows).data(), c.rows, in.data(), c.count,
                  coefficients.data(), c.count, c.bytes);
    REQUIRE(out == expected);
    CHECK(threads.runs == c.runs);
  }
}

TEST_CASE("a pool's threads wake up after a pause, and end while they watch or sleep") {
  ThreadPool pool(3);
  std::atomic<int> inside{0};
  for (int round = 0; round < 20; ++round) {
    // All three tasks must run at once to end: every thread has to come.
    inside = 0;
    pool.run(3, [&](std::size_t) {
      ++inside;
      while (inside < 3) std::this_thread::yield();
    });
    CHECK(inside == 3);
    // A pause longer than they watch, so that some rounds find them asleep; nothing depends on it.
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(round % 4 == 0 ? 1 : 0);
    while (Clock::now() < end) std::this_thread::yield();
  }
  for (int round = 0; round < 50; ++round) {
    ThreadPool short_lived(2);
    std::atomic<int> ran{0};
    short_lived.run(2, [&](std::size_t) { ++ran; });
    CHECK(ran == 2);
  }
}

TEST_CASE("many generations decode at once, and one without full rank is named") {
  constexpr std::size_t kSize = 12, kBytes = 100, kGenerations = 9;
  ThreadPool pool(3);
  CoefficientStream random(91, 0);
  std::vector<Generation> generations;
  std::vector<std::vector<CodedBlock>> blocks(kGenerations);
  std::vector<std::vector<const std::uint8_t*>> vectors(kGenerations), payloads(kGenerations);
  std::vector<Bytes> out(kGenerations, Bytes(kSize * kBytes));
  std::vector<GenerationWork> works;
  for (std::size_t g = 0; g < kGenerations; ++g) {
    generations.emplace_back(kSize, kBytes, random);
    SpanBasis basis(kSize);
    while (!basis.full()) {
      CodedBlock block = generations[g].dense(random);
      if (basis.insert(block.vector)) blocks[g].push_back(std::move(block));
    }
    if (g == 4) blocks[g][7] = blocks[g][2];
    for (const CodedBlock& block : blocks[g]) {
      vectors[g].push_back(block.vector.data());
      payloads[g].push_back(block.payload.data());
    }
    works.push_back({kSize, kBytes, vectors[g], payloads[g], out[g]});
  }
  CHECK_FALSE(decode_generations(pool, kernels(), works));
  for (std::size_t g = 0; g < kGenerations; ++g) {
    CAPTURE(g);
    CHECK(works[g].decoded == (g != 4));
    if (works[g].decoded) CHECK(out[g] == generations[g].source);
  }
  CHECK(decode_generations(pool, kernels(), std::span(works).first(4)));
}

TEST_CASE("batches are encoded like single blocks, sparse and dense") {
  constexpr std::size_t kSize = 50, kBytes = 333, kRows = 13;
  ThreadPool pool(2);
  CoefficientStream random(92, 0);
  const Generation generation(kSize, kBytes, random);
  std::vector<const std::uint8_t*> in;
  for (std::size_t j = 0; j < kSize; ++j) in.push_back(&generation.source[j * kBytes]);
  for (const double density : {0.02, 0.15, 0.3, 1.0}) {
    CAPTURE(density);
    CodingVectors draw(CoefficientMode::kSparse, kSize, random, density);
    Bytes vectors;
    for (std::size_t r = 0; r < kRows; ++r) {
      const Bytes vector = draw.next();
      vectors.insert(vectors.end(), vector.begin(), vector.end());
    }
    Bytes out(kRows * kBytes);
    encode_batch(pool, kernels(), in, kBytes, vectors, rows_of(out, kRows));
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto begin = vectors.begin() + static_cast<std::ptrdiff_t>(r * kSize);
      const CodedBlock block = generation.encode(Bytes(begin, begin + kSize));
      REQUIRE(std::equal(block.payload.begin(), block.payload.end(), &out[r * kBytes]));
    }
  }
}

TEST_CASE("recoded batches keep vectors and payloads together, and the span") {
  constexpr std::size_t kSize = 24, kBytes = 70, kRows = 6;
  ThreadPool pool(2);
  CoefficientStream random(93, 0);
  const Generation generation(kSize, kBytes, random);
  SpanBasis basis(kSize);
  std::vector<CodedBlock> blocks;
  while (!basis.full()) {
    CodedBlock block = generation.dense(random);
    if (!basis.insert(block.vector)) continue;
    blocks.push_back(std::move(block));
    std::vector<const std::uint8_t*> vectors, payloads;
    for (const CodedBlock& held : blocks) {
      vectors.push_back(held.vector.data());
      payloads.push_back(held.payload.data());
    }
    for (const bool sparse : {false, true}) {
      Bytes mixes;
      for (std::size_t r = 0; r < kRows; ++r) {
        const Bytes mix =
            sparse ? sparse_mix(blocks.size(), 3, random) : random_mix(blocks.size(), random);
        mixes.insert(mixes.end(), mix.begin(), mix.end());
      }
      Bytes vectors_out(kRows * kSize), payloads_out(kRows * kBytes);
      recode_batch(pool, kernels(), {kSize, kBytes, vectors, payloads}, mixes,
                   rows_of(vectors_out, kRows), rows_of(payloads_out, kRows));
      for (std::size_t r = 0; r < kRows; ++r) {
        const Bytes vector(&vectors_out[r * kSize], &vectors_out[r * kSize] + kSize);
        const Bytes payload(&payloads_out[r * kBytes], &payloads_out[r * kBytes] + kBytes);
        REQUIRE_FALSE(basis.is_innovative(vector));
        REQUIRE(generation.encode(vector).payload == payload);
        for (const CodedBlock& held : blocks) REQUIRE(held.vector != vector);
      }
    }
  }
}

}  // namespace
}  // namespace firn::codec
