#include "codec/sync/tvb_code.h"

#include <algorithm>
#include <cassert>

namespace firn::codec::sync {
namespace {

bool words_are_distinct(std::span<const std::uint32_t> book) {
  std::vector<std::uint32_t> sorted(book.begin(), book.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

}  // namespace

std::optional<TvbCode> TvbCode::make(std::size_t codeword_bits, std::size_t alphabet,
                                     std::size_t length, std::vector<std::uint32_t> books) {
  if (codeword_bits < 1 || codeword_bits > kCodewordBitsMax || length == 0) return {};
  const std::uint64_t words = std::uint64_t{1} << codeword_bits;
  if (alphabet < 2 || alphabet > words) return {};
  if (books.empty() || books.size() % alphabet != 0) return {};
  if (std::any_of(books.begin(), books.end(), [&](auto word) { return word >= words; })) return {};
  TvbCode code;
  code.codeword_bits_ = codeword_bits;
  code.alphabet_ = alphabet;
  code.length_ = code.period_ = length;
  code.books_ = std::move(books);
  for (std::size_t book = 0; book < code.book_count(); ++book) {
    if (!words_are_distinct(code.book(book))) return {};
  }
  return code;
}

std::vector<std::uint32_t> TvbCode::flat_table() const {
  std::vector<std::uint32_t> table;
  table.reserve(length_ * alphabet_);
  for (std::size_t i = 0; i < length_; ++i) {
    const auto words = codebook(i);
    table.insert(table.end(), words.begin(), words.end());
  }
  return table;
}

TvbCode TvbCode::with_lookahead(std::size_t count) const {
  TvbCode code = *this;
  code.length_ += count;
  return code;
}

Bits TvbCode::encode(std::span<const Symbol> symbols) const {
  assert(symbols.size() == length_);
  Bits bits;
  bits.reserve(frame_bits());
  for (std::size_t i = 0; i < length_; ++i) {
    assert(symbols[i] < alphabet_);
    const std::uint32_t word = codeword(i, symbols[i]);
    for (std::size_t bit = 0; bit < codeword_bits_; ++bit) {
      bits.push_back(static_cast<std::uint8_t>(word >> bit & 1));
    }
  }
  return bits;
}

}  // namespace firn::codec::sync
