// Elements keep their places and values while an array grows and shrinks.
#include "tracker/chunked_array.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace firn::tracker::test {
namespace {

// Knows how many of its kind there are.
template <std::size_t kBytes>
struct Counted {
  explicit Counted(std::uint32_t is = 0) : value(is) { ++alive; }
  Counted(const Counted& other) : value(other.value) { ++alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
  static inline std::size_t alive = 0;
  std::uint32_t value;
  std::array<std::byte, kBytes - sizeof(std::uint32_t)> rest{};
};

template <std::size_t kBytes>
void check_growth(std::uint32_t count) {
  using Element = Counted<kBytes>;
  ChunkedArray<Element> array;
  std::vector<const Element*> places;
  for (std::uint32_t i = 0; i < count; ++i) {
    places.push_back(&array.push_back(Element(i)));
    REQUIRE(array.size() == i + 1);
    // Room for some 1 KiB, twice of what there is, or 64 KiB more, whichever rules.
    REQUIRE(Element::alive * kBytes <= std::max<std::size_t>(2 * (i + 1) * kBytes, 1 << 10));
    REQUIRE(Element::alive * kBytes <= (i + 1) * kBytes + (64 << 10));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    REQUIRE(array[i].value == i);
    REQUIRE(&std::as_const(array)[i] == places[i]);
  }
  for (std::uint32_t left = count; left > count / 2; --left) array.pop_back();
  for (std::uint32_t i = count / 2; i < count; ++i) array.push_back(Element(2 * i));
  for (std::uint32_t i = 0; i < count; ++i) REQUIRE(array[i].value == (i < count / 2 ? i : 2 * i));
  while (array.size() > 0) array.pop_back();
  CHECK(Element::alive * kBytes <= 2 << 10);  // two chunks are kept at most
}

TEST_CASE("elements of any size stay where they are, and a short array is small") {
  check_growth<4>(100'000);
  check_growth<20>(30'000);
  check_growth<96>(5'000);
  check_growth<1000>(500);
}

}  // namespace
}  // namespace firn::tracker::test
