// The forms of the MAP decoder beside one another, on frames that are too long to enumerate.
#include <doctest/doctest.h>

#include <numeric>

#include "tests/codec/sync/frames.h"

namespace firn::codec::sync {
namespace {

struct Shape {
  std::size_t n, q, length;
  double p, substitution;
};

// A frame through its channel; `problem` refers to what stands beside it.
struct Received {
  std::vector<Symbol> symbols;
  Bits bits;
  std::vector<double> priors;
  FrameProblem problem;

  Received(const TvbCode& code, const Channel& channel, CoefficientStream& random)
      : symbols(random_symbols(code, random)),
        bits(transmit(code.encode(symbols), channel, random)) {
    problem.received = bits;
  }
};

FrameSolution solve(const TvbCode& code, const Channel& channel, const StateLimits& limits,
                    const DecoderOptions& options, const FrameProblem& problem) {
  FrameSolution solution;
  MapDecoder(code, channel, limits, options).decode(problem, solution);
  return solution;
}

constexpr DecoderOptions kReference{Form::kBatch, Precision::kDouble, Storage::kLocal, 0, nullptr};

TEST_CASE(
    "all forms and kernel sets agree on frames of some hundred bits, with and without priors") {
  CoefficientStream random(21, 0);
  for (const Shape& s :
       {Shape{8, 16, 24, 1e-2, 0}, Shape{10, 32, 8, 3e-2, 0.01}, Shape{10, 33, 5, 1e-3, 0},
        Shape{3, 5, 30, 2e-2, 0.1}, Shape{1, 2, 60, 1e-2, 0}, Shape{21, 40, 3, 1e-3, 0},
        Shape{32, 17, 2, 1e-3, 0.02}}) {
    CAPTURE(s.n);
    CAPTURE(s.q);
    const Channel channel{s.p, 1.5 * s.p, s.substitution};
    const TvbCode code = random_code(s.n, s.q, s.length, 5, 7);
    const StateLimits limits = rigorous_limits(s.n, s.length, channel, 1e-12);
    for (const bool with_priors : {false, true}) {
      Received frame(code, channel, random);
      if (with_priors) frame.priors = random_priors(s.length, s.q, random);
      frame.problem.symbol_priors = frame.priors;
      const auto expected = solve(code, channel, limits, kReference, frame.problem);
      REQUIRE(expected.status == FrameStatus::kDecoded);
      for (const FormCase& form : all_forms()) {
        CAPTURE(form.name);
        const auto solution = solve(code, channel, limits, form.options, frame.problem);
        REQUIRE(solution.status == FrameStatus::kDecoded);
        const double tolerance = form.tolerance < 1e-8 ? 1e-9 : 1e-5;
        CHECK(distance(solution.posteriors, expected.posteriors) <= tolerance);
        CHECK(distance(solution.end_posterior, expected.end_posterior) <= tolerance);
        CHECK(solution.log_likelihood == doctest::Approx(expected.log_likelihood).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("channels that never delete, never insert or do neither are decoded") {
  CoefficientStream random(22, 0);
  const TvbCode code = random_code(8, 16, 12, 3);
  for (const Channel& channel : {Channel{0.02, 0, 0.01}, Channel{0, 0.02, 0.01}, Channel{0, 0, 0.1},
                                 Channel{0.02, 1e-6, 0}, Channel{0, 0, 0}}) {
    CAPTURE(channel.insertion);
    CAPTURE(channel.deletion);
    const StateLimits limits = rigorous_limits(8, 12, channel, 1e-12);
    const Received frame(code, channel, random);
    const auto expected = solve(code, channel, limits, kReference, frame.problem);
    REQUIRE(expected.status == FrameStatus::kDecoded);
    for (const FormCase& form : all_forms()) {
      CAPTURE(form.name);
      const auto solution = solve(code, channel, limits, form.options, frame.problem);
      REQUIRE(solution.status == FrameStatus::kDecoded);
      CHECK(distance(solution.posteriors, expected.posteriors) <= 1e-5);
    }
  }
}

TEST_CASE("unknown boundaries: all forms give the same posteriors of symbols and boundaries") {
  CoefficientStream random(23, 0);
  const Channel channel{0.02, 0.02, 0};
  const TvbCode code = indel_code(8, 16, 14);
  const StateLimits limits = rigorous_limits(8, 14, channel, 1e-12);
  const auto states = static_cast<std::size_t>(limits.frame.size());
  const Received frame(code, channel, random);
  // The frame begins behind five bits of another one, and its start and end are known roughly.
  Bits stream = {1, 0, 1, 1, 0};
  stream.insert(stream.end(), frame.bits.begin(), frame.bits.end());
  for (int i = 0; i < 40; ++i) stream.push_back(static_cast<std::uint8_t>(random.next_u64() & 1));
  std::vector<double> start(states, 0), end(states, 1);
  const auto origin_state = static_cast<std::size_t>(-limits.frame.low);
  for (std::size_t s = 0; s < states; ++s) {
    const double away = static_cast<double>(s) - static_cast<double>(origin_state);
    start[s] = std::exp(-away * away);
  }
  FrameProblem problem;
  problem.received = stream;
  problem.origin = 5;
  problem.start_prior = start;
  problem.end_prior = end;
  problem.end_boundary = 9;
  const auto expected = solve(code, channel, limits, kReference, problem);
  REQUIRE(expected.status == FrameStatus::kDecoded);
  CHECK(wrong_symbols(decisions(expected, 16), frame.symbols) <= 3);
  for (const FormCase& form : all_forms()) {
    CAPTURE(form.name);
    const auto solution = solve(code, channel, limits, form.options, problem);
    REQUIRE(solution.status == FrameStatus::kDecoded);
    const double tolerance = form.tolerance < 1e-8 ? 1e-9 : 1e-5;
    CHECK(distance(solution.posteriors, expected.posteriors) <= tolerance);
    CHECK(distance(solution.start_posterior, expected.start_posterior) <= tolerance);
    CHECK(distance(solution.end_posterior, expected.end_posterior) <= tolerance);
    CHECK(std::accumulate(solution.end_posterior.begin(), solution.end_posterior.end(), 0.0) ==
          doctest::Approx(1));
  }
}

TEST_CASE("a bridge between known ends changes nothing but the work") {
  CoefficientStream random(24, 0);
  for (const double p : {1e-3, 1e-2, 5e-2}) {
    CAPTURE(p);
    const Channel channel{p, p, 0};
    const TvbCode code = random_code(8, 16, 60, 9);
    const StateLimits limits = rigorous_limits(8, 60, channel, 1e-12);
    DecoderOptions whole{Form::kSuperposed, Precision::kDouble, Storage::kGlobal, 0, nullptr};
    DecoderOptions bridged = whole;
    bridged.bridge_exclusion = 1e-12;
    for (int i = 0; i < 5; ++i) {
      const Received frame(code, channel, random);
      const auto expected = solve(code, channel, limits, whole, frame.problem);
      const auto solution = solve(code, channel, limits, bridged, frame.problem);
      REQUIRE(expected.status == FrameStatus::kDecoded);
      REQUIRE(solution.status == FrameStatus::kDecoded);
      CHECK(distance(solution.posteriors, expected.posteriors) <= 1e-9);
    }
  }
}

TEST_CASE("a bridge has half the states, holds every frame, and leaves out what it may") {
  const std::size_t n = 8, length = 128;
  const Channel channel{0.01, 0.01, 0};
  const StateLimits limits = rigorous_limits(n, length, channel, 1e-10);
  const BridgeBand tight(n, length, channel, limits.frame, 1e-10);
  const BridgeBand loose(n, length, channel, limits.frame, 0.5);
  CoefficientStream random(25, 0);
  const Bits sent(n * length, 0);
  std::vector<int> drifts, peaks;
  std::vector<BridgeBand::States> bands;
  double width = 0;
  int left_tight = 0, left_loose = 0;
  const int frames = 100;
  const auto leaves = [&](const BridgeBand& bridge) {
    bridge.states(drifts.back(), bands);
    for (std::size_t t = 0; t < n * length; ++t) {
      for (const int node : {drifts[t], peaks[t], drifts[t + 1]}) {
        const auto state = static_cast<std::uint32_t>(node - limits.frame.low);
        if (state < bands[t / n].first || state > bands[t / n].last) return true;
      }
    }
    return false;
  };
  for (int frame = 0; frame < frames; ++frame) {
    transmit(sent, channel, random, drifts, peaks);
    left_loose += leaves(loose) ? 1 : 0;
    left_tight += leaves(tight) ? 1 : 0;
    for (const auto& band : bands) width += band.last - band.first + 1;
  }
  CHECK(left_tight == 0);
  CHECK(left_loose < frames / 2);
  const double mean = width / (frames * static_cast<double>(length));
  CHECK(mean < 0.6 * limits.frame.size());
}

TEST_CASE("copies of a decoder decode as it does") {
  CoefficientStream random(26, 0);
  const Channel channel{0.01, 0.01, 0};
  const TvbCode code = random_code(8, 16, 8, 9);
  const StateLimits limits = rigorous_limits(8, 8, channel, 1e-10);
  for (const FormCase& form : all_forms()) {
    CAPTURE(form.name);
    DecoderOptions options = form.options;
    options.bridge_exclusion = 1e-10;
    MapDecoder decoder(code, channel, limits, options);
    const Received first(code, channel, random), second(code, channel, random);
    FrameSolution solution, expected;
    decoder.decode(first.problem, solution);
    MapDecoder copy = decoder;
    decoder.decode(second.problem, expected);
    copy.decode(second.problem, solution);
    CHECK(solution.posteriors == expected.posteriors);
    copy = decoder;
    copy.decode(second.problem, solution);
    CHECK(solution.posteriors == expected.posteriors);
  }
}

}  // namespace
}  // namespace firn::codec::sync
