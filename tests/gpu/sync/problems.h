// Batches of frames for the decoders' tests on a device: what a seeded channel makes of random
// symbols, of all lengths and with all kinds of priors.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "codec/sync/codebooks.h"
#include "codec/sync/map_decoder.h"
#include "tests/codec/sync/frames.h"

namespace firn::cuda::sync {

namespace channel = codec::sync;

struct FrameShape {
  std::size_t n, q, length;
  channel::Channel channel;
};

inline std::string describe(const FrameShape& shape) {
  return "n=" + std::to_string(shape.n) + " q=" + std::to_string(shape.q) +
         " N=" + std::to_string(shape.length) + " Pi=" + std::to_string(shape.channel.insertion) +
         " Pd=" + std::to_string(shape.channel.deletion) +
         " Ps=" + std::to_string(shape.channel.substitution);
}

// Problems and the memory that they refer to.
class Frames {
 public:
  enum class Priors { kNone, kSymbols, kAll };  // kAll: symbols, start and end, and bits around

  Frames(const FrameShape& shape, std::size_t count, Priors priors, std::uint64_t seed)
      : code(channel::random_code(shape.n, shape.q, shape.length, seed,
                                  std::min(shape.length, channel::kBookCount))),
        limits(channel::rigorous_limits(shape.n, shape.length, shape.channel, 1e-12)) {
    codec::CoefficientStream random(seed, 1);
    // Starts and ends that are not certain need room, so that all forms keep the same paths.
    const channel::DriftRange likely = limits.frame;
    if (priors == Priors::kAll) limits.frame = {likely.low - kRoom, likely.high + kRoom};
    const auto states = static_cast<std::size_t>(limits.frame.size());
    records.resize(count), symbols.resize(count), ends.resize(count);
    for (std::size_t f = 0; f < count; ++f) {
      const auto sent = code.encode(channel::random_symbols(code, random));
      const auto received = channel::transmit(sent, shape.channel, random);
      channel::FrameProblem problem;
      if (priors == Priors::kAll) {
        problem.origin = static_cast<std::ptrdiff_t>(random.below(40));
        records[f].resize(static_cast<std::size_t>(problem.origin));
        for (auto& bit : records[f]) bit = static_cast<std::uint8_t>(random.below(2));
      }
      records[f].insert(records[f].end(), received.begin(), received.end());
      if (priors == Priors::kAll) {
        for (auto bits = random.below(70); bits > 0; --bits) {
          records[f].push_back(static_cast<std::uint8_t>(random.below(2)));
        }
        ends[f] = channel::random_priors(2, states, random);
        for (int m = limits.frame.low; m <= limits.frame.high; ++m) {
          const auto s = static_cast<std::size_t>(m - limits.frame.low);
          if (m < -2 || m > 2) ends[f][s] = 0;
          if (!likely.contains(m)) ends[f][states + s] = 0;
        }
        problem.start_prior = std::span(ends[f]).first(states);
        problem.end_prior = std::span(ends[f]).last(states);
        problem.end_boundary = random.below(static_cast<std::uint32_t>(shape.length + 1));
      }
      if (priors != Priors::kNone && f % 3 != 1) {
        symbols[f] = channel::random_priors(shape.length, shape.q, random);
        problem.symbol_priors = symbols[f];
      }
      problem.received = records[f];
      problems.push_back(problem);
    }
  }
  Frames(const Frames&) = delete;

  channel::TvbCode code;
  channel::StateLimits limits;
  std::vector<channel::FrameProblem> problems;

 private:
  static constexpr int kRoom = 12;

  std::vector<channel::Bits> records;
  std::vector<std::vector<double>> symbols, ends;
};

// Both decoded or both not, and then all numbers within `tolerance`; the likelihood's is larger, as
// it adds up what all codewords are off.
inline void check_alike(const channel::FrameSolution& got, const channel::FrameSolution& wanted,
                        double tolerance) {
  CHECK(got.status == wanted.status);
  if (got.status != wanted.status || got.status != channel::FrameStatus::kDecoded) return;
  CHECK(channel::distance(got.posteriors, wanted.posteriors) <= tolerance);
  CHECK(channel::distance(got.start_posterior, wanted.start_posterior) <= tolerance);
  CHECK(channel::distance(got.end_posterior, wanted.end_posterior) <= tolerance);
  CHECK(std::abs(got.log_likelihood - wanted.log_likelihood) <= 100 * tolerance);
}

}  // namespace firn::cuda::sync
