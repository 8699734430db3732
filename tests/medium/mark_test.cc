#include "client/medium/mark.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "codec/random.h"

namespace firn::medium {
namespace {

Bits random_bits(std::size_t count, codec::CoefficientStream& random) {
  std::vector<std::uint8_t> bytes((count + 7) / 8);
  random.fill(bytes);
  Bits bits = unpack(bytes);
  bits.resize(count);
  return bits;
}

std::vector<FoundMark> find(MarkFinder finder, Bits bits) {
  std::vector<FoundMark> found;
  bits.resize(bits.size() + MarkFinder::kReach);
  for (const std::uint8_t bit : bits)
    if (auto mark = finder.next(bit)) found.push_back(*mark);
  return found;
}

// The least edit distance of the pattern to what ends at each place, by the textbook's table.
std::vector<unsigned> distances(const Bits& pattern, const Bits& bits) {
  std::vector<unsigned> column(pattern.size() + 1), result;
  for (unsigned i = 0; i <= pattern.size(); ++i) column[i] = i;
  for (const std::uint8_t bit : bits) {
    unsigned diagonal = column[0];
    for (std::size_t i = 1; i <= pattern.size(); ++i) {
      const unsigned cost = diagonal + (pattern[i - 1] == bit ? 0 : 1);
      diagonal = column[i];
      column[i] = std::min({cost, column[i] + 1, column[i - 1] + 1});
    }
    result.push_back(column.back());
  }
  return result;
}

TEST_CASE("a mark is found where the textbook's edit distance is least") {
  codec::CoefficientStream random(80, 0);
  for (const std::size_t length : {64, 65, 100, 128}) {
    CAPTURE(length);
    const Bits pattern = random_bits(length, random);
    Bits bits = random_bits(300, random);
    bits.insert(bits.end(), pattern.begin(), pattern.end());
    const std::size_t end = bits.size();
    const Bits rest = random_bits(300, random);
    bits.insert(bits.end(), rest.begin(), rest.end());
    bits.erase(bits.begin() + 300 + 11);      // lost
    bits.insert(bits.begin() + 300 + 15, 1);  // gained
    bits[300 + 5] ^= 1;                       // flipped
    const auto marks = find(MarkFinder(pattern), bits);
    const auto expected = distances(pattern, bits);
    REQUIRE(marks.size() == 1);
    CHECK(marks[0].distance == expected[end - 1]);
    CHECK(marks[0].distance <= 3);
    CHECK(marks[0].end.bit() == static_cast<std::int64_t>(end));
    CHECK(*std::max_element(marks[0].end.weights.begin(), marks[0].end.weights.end()) == 1);
  }
}

TEST_CASE("random bits are taken for no mark") {
  codec::CoefficientStream random(81, 0);
  CHECK(find(MarkFinder(label_mark()), random_bits(2'000'000, random)).empty());
}

TEST_CASE("a mark at the very end of a medium is found, and none twice") {
  codec::CoefficientStream random(82, 0);
  Bits bits = random_bits(50, random);
  for (int i = 0; i < 3; ++i) {
    bits.insert(bits.end(), label_mark().begin(), label_mark().end());
    const Bits between = random_bits(i < 2 ? 200 : 0, random);
    bits.insert(bits.end(), between.begin(), between.end());
  }
  const auto marks = find(MarkFinder(label_mark()), bits);
  REQUIRE(marks.size() == 3);
  CHECK(marks[0].end.bit() == 50 + 128);
  CHECK(marks[2].end.bit() == static_cast<std::int64_t>(bits.size()));
}

TEST_CASE("bits packed into bytes and back are the same") {
  codec::CoefficientStream random(83, 0);
  const Bits bits = random_bits(77, random);
  BitPacker packer;
  packer.put(std::span(bits).first(5));
  CHECK(packer.take().empty());
  packer.put(std::span(bits).subspan(5, 20));
  auto bytes = packer.take();
  CHECK(bytes.size() == 3);
  packer.put(std::span(bits).subspan(25));
  const auto rest = packer.take(true);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  REQUIRE(bytes.size() == 10);
  Bits again = unpack(bytes);
  CHECK(std::all_of(again.begin() + 77, again.end(), [](auto bit) { return bit == 0; }));
  again.resize(77);
  CHECK(again == bits);
  CHECK(packer.take(true).empty());
}

}  // namespace
}  // namespace firn::medium
