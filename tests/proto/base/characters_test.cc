#include "proto/base/characters.h"

#include <doctest/doctest.h>

namespace firn {
namespace {

TEST_CASE("characters that show as nothing are those of Unicode's property, and no others") {
  for (const std::uint32_t hidden :
       {0xadu,    0x34fu,   0x61cu,   0x115fu,  0x1160u,  0x17b4u, 0x180bu, 0x180eu,
        0x180fu,  0x200bu,  0x200fu,  0x202au,  0x202eu,  0x2060u, 0x2065u, 0x206fu,
        0x3164u,  0xfe00u,  0xfe0fu,  0xfeffu,  0xffa0u,  0xfff0u, 0xfff8u, 0x1bca0u,
        0x1d173u, 0x1d17au, 0xe0000u, 0xe0001u, 0xe007fu, 0xe0fffu}) {
    CAPTURE(hidden);
    CHECK(is_default_ignorable(hidden));
  }
  for (const std::uint32_t shown :
       {0x0u,    0x2eu,   0xacu,    0xaeu,    0x61bu,   0x1161u,  0x180au,  0x1810u,
        0x200au, 0x2010u, 0x2029u,  0x202fu,  0x205fu,  0x2070u,  0xfdffu,  0xfe10u,
        0xfff9u, 0xfffcu, 0x1bca4u, 0x1d172u, 0x1d17bu, 0xdffffu, 0xe1000u, 0x10ffffu}) {
    CAPTURE(shown);
    CHECK_FALSE(is_default_ignorable(shown));
  }
  std::uint32_t count = 0;
  for (std::uint32_t c = 0; c <= 0x10ffff; ++c) count += is_default_ignorable(c);
  CHECK(count == 4174);
}

TEST_CASE("a text without what shows as nothing is what a reader sees of it") {
  CHECK(without_ignorable("\u200b\ufeff\U000e0020.pro\u00adfile\u200b") == ".profile");
  CHECK(without_ignorable("\u65e5\u672c a") == "\u65e5\u672c a");
  CHECK(without_ignorable("\u200b").empty());
  CHECK(without_ignorable("").empty());
  CHECK(without_ignorable("\xff\u200b.x") == "\xff.x");
}

}  // namespace
}  // namespace firn
