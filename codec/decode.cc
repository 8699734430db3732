#include "codec/decode.h"

#include <algorithm>
#include <cassert>

#include "codec/gf256.h"
#include "codec/product.h"

namespace firn::codec {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool is_nonzero(std::uint8_t c) {
  return c != 0;
}

// The column of the vector's only nonzero coefficient, or kNone.
std::size_t single_column(const std::uint8_t* vector, std::size_t n) {
  const auto* first = std::find_if(vector, vector + n, is_nonzero);
  if (first == vector + n || std::any_of(first + 1, vector + n, is_nonzero)) return kNone;
  return static_cast<std::size_t>(first - vector);
}

// The generation's blocks as the received rows give them. A row with one nonzero coefficient gives
// its source block ("given") up to a factor; the others ("dense") together give the missing ones.
struct Division {
  std::vector<std::size_t> row_of_given;    // by source block; kNone: missing
  std::vector<std::size_t> given, missing;  // source blocks
  std::vector<std::size_t> dense;           // rows; as many as missing
};

// False if two rows give the same block.
bool divide(std::size_t n, std::span<const std::uint8_t* const> vectors, Division& division) {
  division.row_of_given.assign(n, kNone);
  for (std::size_t r = 0; r < n; ++r) {
    const std::size_t block = single_column(vectors[r], n);
    if (block == kNone) {
      division.dense.push_back(r);
    } else if (division.row_of_given[block] == kNone) {
      division.row_of_given[block] = r;
    } else {
      return false;
    }
  }
  for (std::size_t block = 0; block < n; ++block) {
    (division.row_of_given[block] == kNone ? division.missing : division.given).push_back(block);
  }
  return true;
}

// rows x columns of the vectors, gathered row-major.
std::vector<std::uint8_t> gather(std::span<const std::uint8_t* const> vectors,
                                 const std::vector<std::size_t>& rows,
                                 const std::vector<std::size_t>& columns) {
  std::vector<std::uint8_t> matrix;
  matrix.reserve(rows.size() * columns.size());
  for (const std::size_t row : rows) {
    if (columns.size() == rows.size() && columns.size() == vectors.size()) {  // every column
      matrix.insert(matrix.end(), vectors[row], vectors[row] + columns.size());
      continue;
    }
    for (const std::size_t column : columns) matrix.push_back(vectors[row][column]);
  }
  return matrix;
}

// With the dense rows y = C_m x_m + C_g x_g, the missing blocks are x_m = T (y, x_g) with
//   T = C_m^-1 [I | C_g]   (missing x n)
// Empty if C_m is singular.
std::vector<std::uint8_t> transform(const Kernels& kernels, std::size_t n,
                                    std::span<const std::uint8_t* const> vectors,
                                    const Division& division) {
  const std::size_t missing = division.missing.size(), given = division.given.size();
  std::vector<std::uint8_t> inverse(missing * missing);
  if (!invert_matrix(gather(vectors, division.dense, division.missing), missing, inverse,
                     kernels)) {
    return {};
  }
  if (given == 0) return inverse;
  const std::vector<std::uint8_t> c_given = gather(vectors, division.dense, division.given);
  std::vector<std::uint8_t> t(missing * n);
  std::vector<const std::uint8_t*> in(missing);
  std::vector<std::uint8_t*> out(missing);
  for (std::size_t r = 0; r < missing; ++r) {
    std::copy_n(&inverse[r * missing], missing, &t[r * n]);
    in[r] = &c_given[r * given];
    out[r] = &t[r * n + missing];
  }
  multiply_rows(kernels, out.data(), missing, in.data(), missing, inverse.data(), missing, given);
  return t;
}

}  // namespace

bool decode_generation(const Kernels& kernels, std::size_t n, std::size_t block_bytes,
                       std::span<const std::uint8_t* const> vectors,
                       std::span<const std::uint8_t* const> payloads, std::span<std::uint8_t> out) {
  assert(vectors.size() == n && payloads.size() == n && out.size() == n * block_bytes);
  Division division;
  if (!divide(n, vectors, division)) return false;
  std::vector<std::uint8_t> t;
  if (!division.missing.empty()) {
    t = transform(kernels, n, vectors, division);
    if (t.empty()) return false;
  }

  std::vector<const std::uint8_t*> in;
  std::vector<std::uint8_t*> missing;
  for (const std::size_t row : division.dense) in.push_back(payloads[row]);
  for (const std::size_t block : division.missing) missing.push_back(&out[block * block_bytes]);
  for (const std::size_t block : division.given) {
    const std::size_t row = division.row_of_given[block];
    const std::uint8_t coefficient = vectors[row][block];
    std::uint8_t* to = out.data() + block * block_bytes;
    if (coefficient == 1) {
      std::copy_n(payloads[row], block_bytes, to);
    } else {
      kernels.multiply(to, payloads[row], gf_inverse(coefficient), block_bytes);
    }
    in.push_back(to);
  }
  multiply_rows(kernels, missing.data(), missing.size(), in.data(), n, t.data(), n, block_bytes);
  return true;
}

}  // namespace firn::codec
