#include "client/core/rows/generation_set.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "codec/random.h"

using firn::core::GenerationSet;

TEST_CASE("a set of generations agrees with an ordinary set") {
  firn::codec::CoefficientStream random(3, 4);
  for (const std::uint32_t size : {1u, 2u, 63u, 64u, 65u, 127u, 128u, 129u, 500u}) {
    CAPTURE(size);
    GenerationSet set(size), also(size), but = GenerationSet::of_all(size);
    for (std::uint32_t g = 0; g < size; ++g) REQUIRE(but.contains(g));
    REQUIRE(but.next_present(size - 1) == size - 1);
    REQUIRE(but.count() == size);
    for (std::uint32_t g = 0; g < size; ++g) but.remove(g);
    REQUIRE(but.next_present(0) == size);  // no bit beyond the last
    std::set<std::uint32_t> model;
    for (int step = 0; step < 2000; ++step) {
      const std::uint32_t g = random.below(size);
      // Mostly filling, then mostly emptying, so that both ends are met.
      if (random.below(4) < (step < 1000 ? 3u : 1u)) {
        set.add(g);
        model.insert(g);
      } else {
        set.remove(g);
        model.erase(g);
      }
      REQUIRE(set.count() == model.size());
      REQUIRE(set.full() == (model.size() == size));
      random.below(2) == 0 ? also.add(random.below(size)) : also.remove(random.below(size));
      random.below(3) == 0 ? but.add(random.below(size)) : but.remove(random.below(size));
      const std::uint32_t from = random.below(size + 2);
      std::uint32_t common = std::min(from, size);
      while (common < size &&
             (!model.contains(common) || !also.contains(common) || but.contains(common)))
        ++common;
      REQUIRE(set.next_common(from, also, but) == common);
      const auto present = model.lower_bound(from);
      REQUIRE(set.next_present(from) == (present == model.end() ? size : *present));
      std::uint32_t missing = std::min(from, size);
      while (missing < size && model.contains(missing)) ++missing;
      REQUIRE(set.next_missing(from) == missing);
    }
  }
}

TEST_CASE("an empty set of no generations is full") {
  const GenerationSet none(0);
  CHECK(none.full());
  CHECK(none.next_missing(0) == 0);
  CHECK(none.next_present(0) == 0);
}
