// A time-varying block code: symbol D at index i is sent as the n-bit codeword C_i(D), and the
// codebook C_i changes with i, so that a reader that lost its place finds it again (Briffa 2014,
// II-A). The MAP decoder turns received bits into symbol probabilities, an outer code corrects the
// rest.
//
//   symbols D_0 .. D_{N-1} in 0..q-1  ->  C_0(D_0) C_1(D_1) .. C_{N-1}(D_{N-1}): tau = n N bits
//
// A codeword is the low n bits of a word; bit 0 is sent first. Codebooks may be shared by several
// indices. How codebooks are made: codec/sync/codebooks.h. Immutable; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/sync/channel.h"

namespace firn::codec::sync {

using Symbol = std::uint32_t;

class TvbCode {
 public:
  static constexpr std::size_t kCodewordBitsMax = 32;

  // n, q, N, and the distinct codebooks, row-major [books][q]; index i uses book i mod the number
  // of books (give N books for a code that never repeats). Nothing if n is not in 1..32, q not in
  // 2..2^n, N is 0, the words are not whole books of q, a word has bits beyond n, or a book has
  // the same word twice.
  static std::optional<TvbCode> make(std::size_t codeword_bits, std::size_t alphabet,
                                     std::size_t length, std::vector<std::uint32_t> books);

  std::size_t codeword_bits() const { return codeword_bits_; }         // n
  std::size_t alphabet() const { return alphabet_; }                   // q
  std::size_t length() const { return length_; }                       // N, symbols
  std::size_t frame_bits() const { return codeword_bits_ * length_; }  // tau

  std::size_t book_count() const { return books_.size() / alphabet_; }
  std::size_t book_index(std::size_t i) const { return i % period_ % book_count(); }
  // The q codewords of a distinct book, or of index i = 0..N-1.
  std::span<const std::uint32_t> book(std::size_t index) const {
    return {books_.data() + index * alphabet_, alphabet_};
  }
  std::span<const std::uint32_t> codebook(std::size_t i) const { return book(book_index(i)); }
  std::uint32_t codeword(std::size_t i, Symbol symbol) const { return codebook(i)[symbol]; }

  // All codebooks as one table, row-major [N][q]: the layout for a GPU (Briffa 2014, III-B).
  std::vector<std::uint32_t> flat_table() const;

  // A frame and the first `count` codewords of the next one: index N + j has the book of index j.
  TvbCode with_lookahead(std::size_t count) const;

  // The tau bits of N symbols, each below q.
  Bits encode(std::span<const Symbol> symbols) const;

 private:
  TvbCode() = default;

  std::size_t codeword_bits_ = 0, alphabet_ = 0, length_ = 0;
  std::size_t period_ = 0;  // indices after which the books begin again
  std::vector<std::uint32_t> books_;
};

}  // namespace firn::codec::sync
