#include "codec/bench/isal.h"

#include <isa-l/erasure_code.h>

namespace firn::codec::bench::isal {

bool available() {
  return true;
}

const char* version() {
  return FIRN_ISAL_VERSION;
}

std::vector<std::uint8_t> tables(const std::vector<std::uint8_t>& matrix, std::size_t rows,
                                 std::size_t count) {
  std::vector<std::uint8_t> result(32 * rows * count);
  std::vector<std::uint8_t> copy(matrix);  // the library's signature is not const
  ec_init_tables(static_cast<int>(count), static_cast<int>(rows), copy.data(), result.data());
  return result;
}

void encode(const std::vector<std::uint8_t>& tables, std::uint8_t* const* out, std::size_t rows,
            const std::uint8_t* const* in, std::size_t count, std::size_t bytes) {
  // It writes neither to its tables nor to its sources.
  ec_encode_data(static_cast<int>(bytes), static_cast<int>(count), static_cast<int>(rows),
                 const_cast<std::uint8_t*>(tables.data()), const_cast<std::uint8_t**>(in),
                 const_cast<std::uint8_t**>(out));
}

bool invert(const std::vector<std::uint8_t>& matrix, std::size_t n,
            std::vector<std::uint8_t>& inverse) {
  std::vector<std::uint8_t> destroyed(matrix);
  inverse.resize(n * n);
  return gf_invert_matrix(destroyed.data(), inverse.data(), static_cast<int>(n)) == 0;
}

}  // namespace firn::codec::bench::isal
