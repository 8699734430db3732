#include "client/medium/plan.h"

#include <doctest/doctest.h>

#include "client/medium/loss_model.h"
#include "client/medium/slice_decoder.h"
#include "codec/random.h"
#include "codec/span_basis.h"

namespace firn::medium {
namespace {

TEST_CASE("medium plan: more parity loses fewer frames, a worse channel more") {
  for (const InnerShape& shape : measured_shapes()) {
    CAPTURE(shape.codeword_bits);
    double rate = 0.001;
    for (; rate < 0.05; rate *= 1.5) {
      double before = 1;
      for (unsigned parity = 4; parity < 100; parity += 4) {
        const auto loss = frame_loss(shape, rate, parity);
        if (!loss) continue;
        CHECK(*loss <= before * 1.0001);
        CHECK(*loss >= 0);
        before = *loss;
        const auto worse = frame_loss(shape, rate * 1.2, parity);
        if (worse && *loss > 1e-4) CHECK(*worse >= *loss * 0.8);
      }
    }
    CHECK_FALSE(frame_loss(shape, 0.5, 16));
  }
  CHECK_FALSE(frame_loss({9, 16, 4, 1}, 0.01, 16));
}

TEST_CASE("between measured rates losses are what was seen there") {
  // docs/lab/045: 4,000 to 5,000 frames each.
  struct Seen {
    InnerShape shape;
    double rate;
    unsigned parity;
    double loss;
  };
  const Seen all[] = {{{10, 64, 4, 1}, 0.002, 4, 2.5e-3}, {{10, 64, 4, 1}, 0.006, 10, 1.1e-2},
                      {{8, 16, 4, 1}, 0.014, 18, 1.5e-2}, {{8, 16, 4, 1}, 0.025, 50, 3.5e-3},
                      {{12, 16, 6, 1}, 0.04, 30, 7.8e-3}, {{12, 16, 6, 1}, 0.04, 26, 3.6e-2}};
  for (const Seen& seen : all) {
    const auto planned = frame_loss(seen.shape, seen.rate, seen.parity);
    CAPTURE(seen.rate);
    CAPTURE(seen.parity);
    REQUIRE(planned);
    CHECK(*planned >= seen.loss / 1.6);
    CHECK(*planned <= seen.loss * 2);
  }
  // No jump at the measured rates.
  const InnerShape shape{8, 16, 4, 1};
  CHECK(frame_loss(shape, 0.0100001, 14).value() ==
        doctest::Approx(frame_loss(shape, 0.01, 14).value()).epsilon(0.01));
  CHECK(frame_loss(shape, 0.0199999, 30).value() ==
        doctest::Approx(frame_loss(shape, 0.02, 30).value()).epsilon(0.01));
}

TEST_CASE("medium plan: the chance of losing a generation is what simulation finds") {
  // 40 blocks, 44 rows, each lost with probability 0.08: about 1 generation in 3 is lost.
  codec::CoefficientStream random(95, 0);
  const ContentId content{};
  int failed = 0;
  const int runs = 1500;
  for (int run = 0; run < runs; ++run) {
    codec::SpanBasis basis(40);
    for (std::uint32_t row = 0; row < 44; ++row)
      if (random.below(1000) >= 80)
        basis.insert(
            row_vector(content, Stream::kContent, static_cast<std::uint32_t>(run), row, 40));
    failed += basis.full() ? 0 : 1;
  }
  const double expected = generation_loss(40, 44, 0.08);
  CHECK(expected > 0.2);
  CHECK(failed / double{runs} == doctest::Approx(expected).epsilon(0.12));
  CHECK(generation_loss(40, 39, 0.01) == 1);
  CHECK(generation_loss(40, 44, 0) == 0);
  CHECK(generation_loss(1024, 1044, 1e-3) < 1e-12);
}

TEST_CASE("medium plan: 64 MiB at one percent take at most 2.3 bits a bit") {
  PlanRequest request;
  request.rates = {0.01, 0.01, 0};
  request.content_bytes = 64 << 20;
  const auto plan = make_plan(request);
  REQUIRE(plan.ok());
  CHECK(plan->bits_per_content_bit() <= 2.3);
  CHECK(plan->content_loss <= 1e-9);
  CHECK(plan->label.spare.rows < 40);
  CHECK(plan->label.place_count > 64 * 1024 * 1024 / 255);
}

TEST_CASE("medium plan: a shape that is given stays, and impossible wishes are refused") {
  PlanRequest request;
  request.rates = {0.003, 0.003, 0};
  request.shape = Shape{64, 16384, 3 << 20};
  request.content_bytes = 3 << 20;
  const auto plan = make_plan(request);
  REQUIRE(plan.ok());
  CHECK(plan->shape == *request.shape);
  CHECK(plan->label.slices() > 60);
  CHECK(plan->label.spare.rows < 16);
  request.rates = {0.3, 0.3, 0};
  CHECK_FALSE(make_plan(request).ok());
  request.rates = {0.003, 0.003, 0};
  request.content_bytes = 0;
  CHECK_FALSE(make_plan(request).ok());
}

TEST_CASE("a slice is decoded from any innovative rows, and says what it lacks") {
  codec::CoefficientStream random(96, 0);
  const std::size_t n = 30, bytes = 17;
  std::vector<std::vector<std::uint8_t>> blocks(n, std::vector<std::uint8_t>(bytes));
  for (auto& block : blocks) random.fill(block);
  const auto row = [&](std::uint32_t r) {
    auto vector = row_vector(ContentId{}, Stream::kContent, 1, r, n);
    std::vector<std::uint8_t> payload(bytes);
    for (std::size_t i = 0; i < n; ++i)
      codec::kScalarKernels.multiply_add(payload.data(), blocks[i].data(), vector[i], bytes);
    return std::pair(vector, payload);
  };
  SliceDecoder decoder(n, bytes);
  const auto add = [&](std::uint32_t r) {
    auto [vector, payload] = row(r);
    decoder.add(vector, payload);
  };
  for (std::uint32_t r = 5; r < 28; ++r) add(r);
  add(7);  // twice
  std::vector<std::uint8_t> out(n * 20);
  std::size_t missing = 0;
  CHECK_FALSE(decoder.decode(out.data(), 20, missing));
  CHECK(missing == 7);
  for (std::uint32_t r = 40; r < 50; ++r) add(r);
  REQUIRE(decoder.decode(out.data(), 20, missing));
  for (std::size_t i = 0; i < n; ++i)
    CHECK(std::equal(blocks[i].begin(), blocks[i].end(),
                     out.begin() + static_cast<std::ptrdiff_t>(i) * 20));
}

}  // namespace
}  // namespace firn::medium
