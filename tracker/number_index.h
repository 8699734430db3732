// Finds items of a pool by a key that they hold themselves: a hash table of their numbers, four
// bytes for each, and a link in the item to the next one of its bucket.
//
// It grows by linear hashing (Litwin, VLDB 1980): with each item that is added past one for each
// bucket a single bucket is split in two, so that no addition waits for all others to be moved. It
// does not shrink; it is as large as it was needed once.
#pragma once

#include <bit>
#include <cstdint>

#include "tracker/chunked_array.h"
#include "tracker/number_pool.h"

namespace firn::tracker {

// One thread. A Chain says where an item's link is, and what its key's hash is:
//   std::uint32_t& link(std::uint32_t number);
//   std::uint64_t hash(std::uint32_t number);
class NumberIndex {
 public:
  std::uint32_t size() const { return count_; }

  // Of those with this hash, and some others, the one that `matches(number)`; kNone: there is none.
  template <class Chain, class Matches>
  std::uint32_t find(std::uint64_t hash, const Chain& chain, const Matches& matches) const {
    if (count_ == 0) return kNone;
    std::uint32_t at = heads_[bucket_of(hash)];
    while (at != kNone && !matches(at)) at = chain.link(at);
    return at;
  }
  // One that is not there yet.
  template <class Chain>
  void insert(std::uint32_t number, const Chain& chain) {
    if (count_++ == heads_.size()) split(chain);
    std::uint32_t& head = heads_[bucket_of(chain.hash(number))];
    chain.link(number) = head;
    head = number;
  }
  template <class Chain>
  void remove(std::uint32_t number, const Chain& chain) {
    *link_to(number, chain) = chain.link(number);
    --count_;
  }
  // `to`: with the same hash.
  template <class Chain>
  void replace(std::uint32_t number, std::uint32_t to, const Chain& chain) {
    const std::uint32_t rest = chain.link(number);
    *link_to(number, chain) = to;
    chain.link(to) = rest;
  }

 private:
  std::uint32_t bucket_of(std::uint64_t hash) const {
    const std::uint32_t mask = std::bit_ceil(heads_.size()) - 1;
    const std::uint32_t bucket = static_cast<std::uint32_t>(hash) & mask;
    return bucket < heads_.size() ? bucket : bucket & mask >> 1;
  }
  template <class Chain>
  std::uint32_t* link_to(std::uint32_t number, const Chain& chain) {
    std::uint32_t* at = &heads_[bucket_of(chain.hash(number))];
    while (*at != number) at = &chain.link(*at);
    return at;
  }
  template <class Chain>
  void split(const Chain& chain) {
    const std::uint32_t added = heads_.size();
    heads_.push_back(kNone);
    if (added == 0) return;
    std::uint32_t* from = &heads_[added - std::bit_floor(added)];
    std::uint32_t* to = &heads_[added];
    for (std::uint32_t at = *from; at != kNone;) {
      std::uint32_t*& end = bucket_of(chain.hash(at)) == added ? to : from;
      *end = at;
      end = &chain.link(at);
      at = *end;
    }
    *from = kNone;
    *to = kNone;
  }

  ChunkedArray<std::uint32_t> heads_;
  std::uint32_t count_ = 0;
};

}  // namespace firn::tracker
