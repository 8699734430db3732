// Reed-Solomon codes over GF(2^8): errors at unknown places and erasures at known ones.
//
// A codeword has n <= 255 bytes, k of them data, first, then p = n - k of parity. Read as a
// polynomial with word[0] at x^(n-1) it is a multiple of g(x) = (x - a)(x - a^2) ... (x - a^p),
// a = 2 the generator of the field (0x11d). With n < 255 the code is shortened: the bytes in front
// are zeros that nobody keeps. e errors and s erasures are corrected whenever 2 e + s <= p.
//
// Decoding: syndromes, the erasures' locator, Berlekamp-Massey, Chien's search, Forney's formula
// (R. Blahut, Algebraic Codes for Data Transmission, chapters 6 and 7). Beyond the code's ability a
// word is reported as failed, or now and then taken for another codeword, at most about 1/e! of the
// words for e = p / 2: what must not be mistaken carries a check of its own inside the data.
//
// An object is constant after its construction: any thread, at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/kernels.h"

namespace firn::codec {

inline constexpr std::size_t kReedSolomonLengthMax = 255;

class ReedSolomon {
 public:
  struct Decoded {
    bool ok = false;           // false: more than the code corrects; the word is as it was
    std::size_t errors = 0;    // bytes corrected outside of the erasures
    std::size_t erasures = 0;  // that were given
  };

  // 1 <= k < n <= 255.
  ReedSolomon(std::size_t n, std::size_t k);

  std::size_t length() const { return n_; }
  std::size_t data_bytes() const { return k_; }
  std::size_t parity_bytes() const { return n_ - k_; }

  // parity[0..p) of data[0..k); no overlap.
  void encode(std::span<const std::uint8_t> data, std::span<std::uint8_t> parity) const;

  // Corrects word[0..n) in place. `erased`: places in the word (0..n-1, each once, any order),
  // whose bytes count for nothing. What it calls ok is a codeword.
  Decoded decode(std::span<std::uint8_t> word, std::span<const std::uint8_t> erased = {}) const;

  // The same for `count` codewords at once, as columns: row i holds byte i of all of them, so that
  // a burst along a row hurts each codeword once. They are products with a matrix, which the row
  // kernels make. Rows overlap nothing.
  void encode_columns(const Kernels& kernels, const std::uint8_t* const* data_rows,
                      std::uint8_t* const* parity_rows, std::size_t count) const;
  // rows: n, corrected in place. erased: empty, or for each column its erasures. Columns whose
  // syndromes are zero (erasures too) cost no more than that. The results, one for each column.
  std::vector<Decoded> decode_columns(const Kernels& kernels, std::uint8_t* const* rows,
                                      std::size_t count,
                                      std::span<const std::vector<std::uint8_t>> erased = {}) const;

 private:
  // The places and values of the corrections that explain the syndromes; not ok if none do.
  struct Corrections {
    Decoded decoded;
    std::size_t count = 0;
    std::uint8_t place[kReedSolomonLengthMax], value[kReedSolomonLengthMax];
  };
  Corrections correct(std::span<const std::uint8_t> syndromes,
                      std::span<const std::uint8_t> erased) const;

  std::size_t n_, k_;
  std::vector<std::uint8_t> parity_matrix_;    // p x k: parity = matrix * data
  std::vector<std::uint8_t> syndrome_matrix_;  // p x n: row j holds a^((j + 1)(n - 1 - i))
  // The same by columns, for one word at a time: k and n columns of p bytes.
  std::vector<std::uint8_t> parity_columns_, syndrome_columns_;
};

}  // namespace firn::codec
