// The channel, and codes as values.
#include "codec/sync/channel.h"

#include <doctest/doctest.h>

#include <cmath>

#include "codec/sync/tvb_code.h"

namespace firn::codec::sync {
namespace {

Bits random_bits(std::size_t count, CoefficientStream& random) {
  Bits bits(count);
  for (auto& bit : bits) bit = static_cast<std::uint8_t>(random.next_u64() & 1);
  return bits;
}

TEST_CASE("a channel without errors gives back what was sent") {
  CoefficientStream random(1, 0);
  const Bits sent = random_bits(1000, random);
  CHECK(transmit(sent, {}, random) == sent);
}

TEST_CASE("a channel that flips every bit inverts what was sent") {
  CoefficientStream random(1, 0);
  const Bits sent = random_bits(1000, random);
  Bits received = transmit(sent, {0, 0, 1}, random);
  for (auto& bit : received) bit ^= 1;
  CHECK(received == sent);
}

TEST_CASE("the channel inserts, deletes and flips as often as it should") {
  CoefficientStream random(2, 0);
  const std::size_t bits = 200'000;
  const Bits sent(bits, 0);
  const auto near = [&](double count, double expected) {
    return std::abs(count - expected) < 5 * std::sqrt(expected);
  };
  // Of N deletions or transmissions a share P_d / (1 - P_i) are deletions; insertions are
  // geometric.
  std::vector<int> drifts, peaks;
  const Channel channel{0.05, 0.1, 0.02};
  const Bits received = transmit(sent, channel, random, drifts, peaks);
  REQUIRE(drifts.size() == bits + 1);
  REQUIRE(peaks.size() == bits);
  double insertions = 0, deletions = 0, ones = 0;
  for (std::size_t t = 0; t < bits; ++t) {
    insertions += peaks[t] - drifts[t];
    deletions += peaks[t] - drifts[t + 1];
    REQUIRE((peaks[t] == drifts[t + 1] || peaks[t] == drifts[t + 1] + 1));
  }
  for (const auto bit : received) ones += bit;
  CHECK(near(deletions, static_cast<double>(bits) * 0.1 / 0.95));
  CHECK(near(insertions, static_cast<double>(bits) * 0.05 / 0.95));
  CHECK(near(ones, insertions / 2 + (static_cast<double>(bits) - deletions) * 0.02));
  CHECK(static_cast<double>(received.size()) == static_cast<double>(bits) + insertions - deletions);
}

TEST_CASE("the same seed passes a channel the same way, another one does not") {
  CoefficientStream source(3, 0), first(4, 0), second(4, 0), third(5, 0);
  const Bits sent = random_bits(2000, source);
  const Channel channel{0.01, 0.01, 0.01};
  const Bits received = transmit(sent, channel, first);
  CHECK(transmit(sent, channel, second) == received);
  CHECK(transmit(sent, channel, third) != received);
}

TEST_CASE("a channel knows whether its parameters are probabilities") {
  CHECK(Channel{}.valid());
  CHECK(Channel{0.3, 0.3, 1}.valid());
  CHECK_FALSE(Channel{0.5, 0.5, 0}.valid());
  CHECK_FALSE(Channel{-0.1, 0, 0}.valid());
  CHECK_FALSE(Channel{0, 0, 1.5}.valid());
  CHECK_FALSE(Channel{std::nan(""), 0, 0}.valid());
}

TEST_CASE("a code sends each symbol's codeword, first bit first, from its index's book") {
  const auto code = TvbCode::make(3, 2, 3, {0b001, 0b110, 0b111, 0b100});
  REQUIRE(code);
  CHECK(code->frame_bits() == 9);
  CHECK(code->book_count() == 2);
  CHECK(code->encode(std::vector<Symbol>{0, 1, 1}) == Bits{1, 0, 0, 0, 0, 1, 0, 1, 1});
  CHECK(code->flat_table() == std::vector<std::uint32_t>{0b001, 0b110, 0b111, 0b100, 0b001, 0b110});
  CHECK(code->with_lookahead(2).flat_table() ==
        std::vector<std::uint32_t>{0b001, 0b110, 0b111, 0b100, 0b001, 0b110, 0b001, 0b110, 0b111,
                                   0b100});
}

TEST_CASE("a code is not made of books that do not fit it") {
  CHECK_FALSE(TvbCode::make(0, 2, 1, {0, 1}));        // no bits
  CHECK_FALSE(TvbCode::make(33, 2, 1, {0, 1}));       // more than a word has
  CHECK_FALSE(TvbCode::make(1, 3, 1, {0, 1, 2}));     // q > 2^n
  CHECK_FALSE(TvbCode::make(2, 1, 1, {0}));           // q < 2
  CHECK_FALSE(TvbCode::make(2, 2, 0, {0, 1}));        // no symbols
  CHECK_FALSE(TvbCode::make(2, 2, 1, {0, 1, 2}));     // half a book
  CHECK_FALSE(TvbCode::make(2, 2, 1, {}));            // no book
  CHECK_FALSE(TvbCode::make(2, 2, 1, {0, 4}));        // a word beyond n bits
  CHECK_FALSE(TvbCode::make(2, 2, 1, {0, 1, 3, 3}));  // a word twice
  CHECK(TvbCode::make(32, 2, 1, {0, 0xffffffff}));
  CHECK(TvbCode::make(1, 2, 5, {0, 1}));
}

}  // namespace
}  // namespace firn::codec::sync
