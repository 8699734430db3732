#include "proto/base/little_endian.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace firn {
namespace {

TEST_CASE("a field has its lowest byte first, and leaves the bytes around it alone") {
  std::vector<std::uint8_t> bytes(6, 0xee);
  put_field(bytes, 1, std::uint32_t{0x04030281});
  CHECK(bytes == std::vector<std::uint8_t>{0xee, 0x81, 2, 3, 4, 0xee});
  CHECK(get_field<std::uint32_t>(bytes, 1) == 0x04030281);
  CHECK(get_field<std::uint16_t>(bytes, 1) == 0x0281);
  put_field(bytes, 0, std::uint8_t{7});
  CHECK(get_field<std::uint8_t>(bytes, 0) == 7);
}

TEST_CASE_TEMPLATE("the least and the largest number of a type come back", T, std::uint8_t,
                   std::uint16_t, std::uint32_t, std::uint64_t, std::int32_t, std::int64_t) {
  std::vector<std::uint8_t> bytes(sizeof(T));
  for (const T value :
       {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), static_cast<T>(-2)}) {
    put_field(bytes, 0, value);
    CHECK(get_field<T>(bytes, 0) == value);
  }
}

}  // namespace
}  // namespace firn
