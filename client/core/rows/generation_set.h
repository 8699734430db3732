// Sets of numbers, one bit each: of generations, and of a generation's slots.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace firn::core {

inline constexpr std::uint32_t kWordBits = 64;  // of a word: GenerationSet::window tells as many

// Of generation numbers 0..size-1, with the searches that scheduling needs.
class GenerationSet {
 public:
  explicit GenerationSet(std::uint32_t size = 0)
      : size_(size), words_((size + kWordBits - 1) / kWordBits, 0) {}

  static GenerationSet of(const std::vector<bool>& flags) {
    GenerationSet set(static_cast<std::uint32_t>(flags.size()));
    for (std::uint32_t g = 0; g < set.size_; ++g)
      if (flags[g]) set.add(g);
    return set;
  }
  static GenerationSet of_all(std::uint32_t size) {
    GenerationSet all(size);
    for (std::uint64_t& word : all.words_) word = ~std::uint64_t{0};
    if (size % kWordBits > 0) all.words_.back() >>= kWordBits - size % kWordBits;
    all.count_ = size;
    return all;
  }

  std::uint32_t size() const { return size_; }
  std::uint32_t count() const { return count_; }
  bool full() const { return count_ == size_; }
  // Those of the same size that are not in this one.
  GenerationSet complement() const {
    GenerationSet others = of_all(size_);
    for (std::size_t w = 0; w < words_.size(); ++w) others.words_[w] &= ~words_[w];
    others.count_ = size_ - count_;
    return others;
  }
  // `others` has the same size.
  void add_all(const GenerationSet& others) {
    count_ = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      words_[w] |= others.words_[w];
      count_ += static_cast<std::uint32_t>(std::popcount(words_[w]));
    }
  }
  // Of the same size: whether all of them are in this one.
  bool includes(const GenerationSet& others) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((others.words_[w] & ~words_[w]) != 0) return false;
    return true;
  }
  bool contains(std::uint32_t g) const { return (words_[g / kWordBits] >> (g % kWordBits)) & 1; }

  void add(std::uint32_t g) {
    if (contains(g)) return;
    words_[g / kWordBits] |= std::uint64_t{1} << (g % kWordBits);
    ++count_;
  }
  void remove(std::uint32_t g) {
    if (!contains(g)) return;
    words_[g / kWordBits] &= ~(std::uint64_t{1} << (g % kWordBits));
    --count_;
  }

  // Those from..from+kWordBits-1, the lowest bit first.
  std::uint64_t window(std::uint32_t from) const {
    if (from >= size_) return 0;
    const std::size_t w = from / kWordBits;
    const std::uint32_t shift = from % kWordBits;
    std::uint64_t bits = words_[w] >> shift;
    if (shift > 0 && w + 1 < words_.size()) bits |= words_[w + 1] << (kWordBits - shift);
    return bits;
  }

  // The lowest g >= from that is not in the set; size() if there is none.
  std::uint32_t next_missing(std::uint32_t from) const {
    return search(from, [this](std::size_t w) { return ~words_[w]; });
  }
  // The lowest g >= from that is in the set; size() if there is none.
  std::uint32_t next_present(std::uint32_t from) const {
    return search(from, [this](std::size_t w) { return words_[w]; });
  }
  // In order.
  std::vector<std::uint32_t> members() const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t g = next_present(0); g < size_; g = next_present(g + 1)) all.push_back(g);
    return all;
  }
  // The lowest g >= from that is in the set, in `also` and not in `but`, which are of the same
  // size; size() if there is none.
  std::uint32_t next_common(std::uint32_t from, const GenerationSet& also,
                            const GenerationSet& but) const {
    return search(from, [&](std::size_t w) { return words_[w] & also.words_[w] & ~but.words_[w]; });
  }

 private:
  // The lowest bit >= from that is set in word(0), word(1) and so on.
  template <typename Word>
  std::uint32_t search(std::uint32_t from, Word&& word) const {
    if (from >= size_) return size_;
    std::size_t w = from / kWordBits;
    std::uint64_t bits = word(w) & (~std::uint64_t{0} << (from % kWordBits));
    while (bits == 0) {
      if (++w == words_.size()) return size_;
      bits = word(w);
    }
    const auto g = static_cast<std::uint32_t>(w * kWordBits + std::countr_zero(bits));
    return g < size_ ? g : size_;
  }

  std::uint32_t size_;
  std::uint32_t count_ = 0;
  std::vector<std::uint64_t> words_;
};

// Some of a generation's slots, up to the highest one that was added.
class SlotSet {
 public:
  bool contains(std::uint32_t slot) const {
    return slot / kWordBits < words_.size() &&
           (words_[slot / kWordBits] >> slot % kWordBits & 1) != 0;
  }
  void add(std::uint32_t slot) {
    if (slot / kWordBits >= words_.size()) words_.resize(slot / kWordBits + 1);
    words_[slot / kWordBits] |= std::uint64_t{1} << slot % kWordBits;
  }
  void remove(std::uint32_t slot) {
    if (slot / kWordBits < words_.size())
      words_[slot / kWordBits] &= ~(std::uint64_t{1} << slot % kWordBits);
  }
  void clear() { words_.clear(); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace firn::core
