// Frames that cannot be decoded, and frames that single precision alone cannot decode.
#include <doctest/doctest.h>

#include "tests/codec/sync/frames.h"

namespace firn::codec::sync {
namespace {

TEST_CASE("a record that is too long or too short for the limits is an erasure") {
  const TvbCode code = random_code(8, 16, 10, 1);
  const StateLimits limits{{-4, 4}, {-6, 5}};
  CoefficientStream random(31, 0);
  const Bits sent = code.encode(random_symbols(code, random));
  for (const FormCase& form : all_forms()) {
    CAPTURE(form.name);
    MapDecoder decoder(code, {0.01, 0.01, 0}, limits, form.options);
    FrameSolution solution;
    FrameProblem problem;
    for (int drift = -8; drift <= 7; ++drift) {
      CAPTURE(drift);
      Bits record = sent;
      record.resize(sent.size() + static_cast<std::size_t>(static_cast<std::ptrdiff_t>(drift)), 1);
      problem.received = record;
      decoder.decode(problem, solution);
      CHECK((solution.status == FrameStatus::kDriftOutside) == !limits.frame.contains(drift));
    }
    problem.received = {};
    decoder.decode(problem, solution);
    CHECK(solution.status == FrameStatus::kDriftOutside);
    problem.received = sent;
    problem.origin = 7;  // leaves a record that is 7 bits short
    decoder.decode(problem, solution);
    CHECK(solution.status == FrameStatus::kDriftOutside);
  }
}

TEST_CASE("a record that the channel cannot make has lost its mass, in every form") {
  const TvbCode code = *TvbCode::make(4, 2, 3, {0b0000, 0b1111});
  const Channel exact{0, 0, 0};
  const Bits impossible = {0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1};
  for (const FormCase& form : all_forms()) {
    CAPTURE(form.name);
    MapDecoder decoder(code, exact, {{0, 0}, {0, 0}}, form.options);
    FrameSolution solution;
    FrameProblem problem;
    problem.received = impossible;
    decoder.decode(problem, solution);
    CHECK(solution.status == FrameStatus::kMassLost);
    const Bits possible = code.encode(std::vector<Symbol>{0, 1, 1});
    problem.received = possible;
    decoder.decode(problem, solution);
    REQUIRE(solution.status == FrameStatus::kDecoded);
    CHECK(decisions(solution, 2) == std::vector<Symbol>{0, 1, 1});
  }
}

// At p = 0.1 a frame's path now and then has a probability that single precision cannot hold beside
// that of its neighbours.
TEST_CASE("frames that single precision loses are decoded in double precision") {
  CoefficientStream random(32, 0);
  const Channel channel{0.1, 0.1, 0};
  const TvbCode code = random_code(10, 32, 210, 777);
  const StateLimits limits = rigorous_limits(10, 210, channel, 1e-10);
  MapDecoder decoder(code, channel, limits);
  DecoderOptions in_double;
  in_double.precision = Precision::kDouble;
  MapDecoder reference(code, channel, limits, in_double);
  int redone = 0;
  for (int frame = 0; frame < 12; ++frame) {
    const Bits bits = transmit(code.encode(random_symbols(code, random)), channel, random);
    FrameProblem problem;
    problem.received = bits;
    FrameSolution solution, expected;
    decoder.decode(problem, solution);
    reference.decode(problem, expected);
    REQUIRE(solution.status == FrameStatus::kDecoded);
    REQUIRE(expected.status == FrameStatus::kDecoded);
    CHECK(distance(solution.posteriors, expected.posteriors) <= 1e-5);
    redone += solution.redone ? 1 : 0;
  }
  CHECK(redone > 0);
  CHECK(redone < 12);
}

}  // namespace
}  // namespace firn::codec::sync
