#include "codec/sync/codebooks.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <unordered_set>

#include "codec/random.h"

namespace firn::codec::sync {
namespace {

constexpr int kTriesMax = 400;           // orders of words, for one book
constexpr std::size_t kListedBits = 16;  // up to here an order is a shuffled list of all words
constexpr int kDrawsMax = 400'000;       // above, an order is that many draws

std::uint32_t low_bits(std::size_t n) {
  return n == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << n) - 1;
}

// Words in a random order: all of them once, or, where those are many, draws with repetition.
class WordOrder {
 public:
  WordOrder(std::size_t n, CoefficientStream& random) : n_(n), random_(random) {
    if (n > kListedBits) return;
    words_.resize(std::size_t{1} << n);
    for (std::uint32_t word = 0; word < words_.size(); ++word) words_[word] = word;
    for (std::uint32_t i = static_cast<std::uint32_t>(words_.size()); i > 1; --i) {
      std::swap(words_[i - 1], words_[random.below(i)]);
    }
  }
  std::size_t size() const { return n_ > kListedBits ? kDrawsMax : words_.size(); }
  std::uint32_t word(std::size_t at) {
    if (n_ <= kListedBits) return words_[at];
    return static_cast<std::uint32_t>(random_.next_u64()) & low_bits(n_);
  }

 private:
  std::size_t n_;
  CoefficientStream& random_;
  std::vector<std::uint32_t> words_;
};

// One greedy book; empty if the order ends before q words are found.
std::vector<std::uint32_t> greedy_book(std::size_t n, std::size_t q, std::size_t distance,
                                       CoefficientStream& random) {
  WordOrder order(n, random);
  std::vector<std::uint32_t> book;
  for (std::size_t at = 0; at < order.size() && book.size() < q; ++at) {
    const std::uint32_t word = order.word(at);
    const auto too_near = [&](std::uint32_t other) {
      return other == word || 2 * (n - common_subsequence(word, other, n)) < distance;
    };
    if (std::none_of(book.begin(), book.end(), too_near)) book.push_back(word);
  }
  if (book.size() < q) book.clear();
  return book;
}

}  // namespace

std::size_t common_subsequence(std::uint32_t a, std::uint32_t b, std::size_t n) {
  // A bit of `row` is 0 where the length grows at that place of b (Hyyro 2004, "Bit-parallel LCS-
  // length computation revisited"): one addition for each bit of a.
  const std::uint64_t mask = low_bits(n);
  std::uint64_t row = mask;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t equal = (a >> i & 1) != 0 ? b : ~std::uint64_t{b};
    const std::uint64_t kept = row & equal & mask;
    row = ((row + kept) | (row - kept)) & mask;
  }
  return n - static_cast<std::size_t>(std::popcount(row));
}

std::vector<std::uint32_t> random_books(std::size_t n, std::size_t q, std::size_t count,
                                        std::uint64_t seed) {
  CoefficientStream random(seed, 0);
  std::vector<std::uint32_t> books;
  for (std::size_t made = 0; made < count; ++made) {
    WordOrder order(n, random);
    std::unordered_set<std::uint32_t> taken;
    for (std::size_t at = 0; taken.size() < q; ++at) {
      const std::uint32_t word = order.word(at);
      if (taken.insert(word).second) books.push_back(word);
    }
  }
  return books;
}

std::vector<std::uint32_t> indel_books(std::size_t n, std::size_t q, std::size_t distance,
                                       std::size_t count, std::uint64_t seed) {
  CoefficientStream random(seed, 0);
  std::vector<std::uint32_t> books;
  for (std::size_t made = 0; made < count; ++made) {
    std::vector<std::uint32_t> book;
    for (int tries = 0; tries < kTriesMax && book.empty(); ++tries) {
      book = greedy_book(n, q, distance, random);
    }
    if (book.empty()) return {};
    books.insert(books.end(), book.begin(), book.end());
  }
  return books;
}

std::vector<std::uint32_t> marker_books(std::size_t n, std::size_t q, std::size_t count,
                                        std::uint64_t seed) {
  assert(std::has_single_bit(q) && q <= std::uint64_t{1} << n);
  const auto data_bits = static_cast<std::size_t>(std::countr_zero(q));
  const std::size_t first = data_bits / 2;  // so many stand at the start, the others at the end
  const auto place = [&](std::size_t bit) { return bit < first ? bit : n - data_bits + bit; };
  CoefficientStream random(seed, 0);
  std::vector<std::uint32_t> books;
  for (std::size_t made = 0; made < count; ++made) {
    const auto marker = static_cast<std::uint32_t>(random.next_u64()) & low_bits(n);
    for (std::size_t symbol = 0; symbol < q; ++symbol) {
      std::uint32_t word = marker;
      for (std::size_t bit = 0; bit < data_bits; ++bit) {
        const std::uint32_t at = std::uint32_t{1} << place(bit);
        word = (symbol >> bit & 1) != 0 ? word | at : word & ~at;
      }
      books.push_back(word);
    }
  }
  return books;
}

}  // namespace firn::codec::sync
