// Tiny frames: every form of the decoder against enumeration of messages and channel events.
#include "tests/codec/sync/enumeration.h"

#include <doctest/doctest.h>

#include "tests/codec/sync/frames.h"

namespace firn::codec::sync {
namespace {

struct TinyShape {
  std::size_t n, q, length;
};

constexpr TinyShape kTinyShapes[] = {{3, 4, 3}, {4, 4, 2}, {2, 2, 4}, {5, 8, 2}, {1, 2, 6}};
constexpr Channel kTinyChannels[] = {
    {0.05, 0.05, 0.02}, {0.2, 0.1, 0}, {0, 0.15, 0.05}, {0.12, 0, 0.1}};

// Every state that a record of this length can be in.
StateLimits full_limits(const TvbCode& code, const Bits& received) {
  const int n = static_cast<int>(code.codeword_bits()), bits = static_cast<int>(received.size());
  return {{-n, bits}, {-static_cast<int>(code.frame_bits()), bits}};
}

// One case of the acceptance: a random code and random priors. False if the record became too long
// to enumerate.
bool check_tiny_case(const TinyShape& shape, const Channel& channel, CoefficientStream& random) {
  const TvbCode code = random_code(shape.n, shape.q, shape.length, random.next_u64(), shape.length);
  const Bits received = transmit(code.encode(random_symbols(code, random)), channel, random);
  if (received.size() > code.frame_bits() + 4) return false;
  const auto priors = random_priors(code.length(), code.alphabet(), random);
  const Enumerated expected = enumerate(code, channel, received, priors);
  FrameProblem problem;
  problem.received = received;
  problem.symbol_priors = priors;
  for (const FormCase& form : all_forms()) {
    CAPTURE(form.name);
    MapDecoder decoder(code, channel, full_limits(code, received), form.options);
    FrameSolution solution;
    decoder.decode(problem, solution);
    REQUIRE(solution.status == FrameStatus::kDecoded);
    REQUIRE_FALSE(solution.redone);
    REQUIRE(distance(solution.posteriors, expected.posteriors) <= form.tolerance);
    REQUIRE(solution.log_likelihood ==
            doctest::Approx(std::log(expected.likelihood)).epsilon(1e-5));
  }
  return true;
}

TEST_CASE("every form gives the posteriors that enumerating messages and events gives") {
  CoefficientStream random(1, 0);
  for (const TinyShape& shape : kTinyShapes) {
    for (const Channel& channel : kTinyChannels) {
      CAPTURE(shape.n);
      CAPTURE(channel.insertion);
      for (int made = 0; made < 8;) made += check_tiny_case(shape, channel, random) ? 1 : 0;
    }
  }
}

TEST_CASE("what enumerates events sums to one over all records, remembering or not") {
  // Without insertions two bits become one of seven records.
  const Channel channel{0, 0.2, 0.1};
  const Bits sent = {1, 0};
  double sum = 0, remembered = 0;
  for (const Bits& received :
       {Bits{}, Bits{0}, Bits{1}, Bits{0, 0}, Bits{0, 1}, Bits{1, 0}, Bits{1, 1}}) {
    sum += event_probability(sent, received, channel);
    remembered += EventProbability(sent, received, channel).of_rest(0, 0);
  }
  CHECK(sum == doctest::Approx(1).epsilon(1e-14));
  CHECK(remembered == doctest::Approx(1).epsilon(1e-14));
  CHECK(event_probability(sent, Bits{0}, channel) ==
        doctest::Approx(0.2 * 0.8 * 0.9 + 0.8 * 0.1 * 0.2));
  const Channel inserting{0.2, 0.1, 0.05};
  const Bits six = {1, 0, 0, 1, 1, 0}, record = {0, 1, 1, 0, 1, 0, 0};
  CHECK(EventProbability(six, record, inserting).of_rest(0, 0) ==
        doctest::Approx(event_probability(six, record, inserting)).epsilon(1e-14));
}

}  // namespace
}  // namespace firn::codec::sync
