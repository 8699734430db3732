#include "codec/bench/isal.h"

namespace firn::codec::bench::isal {

bool available() {
  return false;
}

const char* version() {
  return "";
}

std::vector<std::uint8_t> tables(const std::vector<std::uint8_t>&, std::size_t, std::size_t) {
  return {};
}

void encode(const std::vector<std::uint8_t>&, std::uint8_t* const*, std::size_t,
            const std::uint8_t* const*, std::size_t, std::size_t) {}

bool invert(const std::vector<std::uint8_t>&, std::size_t, std::vector<std::uint8_t>&) {
  return false;
}

}  // namespace firn::codec::bench::isal
