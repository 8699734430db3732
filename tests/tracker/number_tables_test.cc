// What tables of numbers are made of, each beside the container that it stands for.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "tracker/kind_list.h"
#include "tracker/number_heap.h"
#include "tracker/number_index.h"
#include "tracker/number_list.h"
#include "tracker/number_ring.h"
#include "tracker/seeded_hash.h"

namespace firn::tracker::test {
namespace {

std::uint32_t below(std::size_t count, std::mt19937_64& random) {
  return static_cast<std::uint32_t>(random() % count);
}

TEST_CASE("a chunked array keeps its elements, and where they are, while it grows and shrinks") {
  ChunkedArray<std::uint64_t> array;
  std::vector<std::uint64_t*> places;
  std::mt19937_64 random(1);
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 30'000; ++i) places.push_back(&array.push_back(places.size()));
    for (std::uint32_t at = 0; at < array.size(); ++at) {
      REQUIRE(array[at] == at);
      REQUIRE(&array[at] == places[at]);
    }
    for (std::uint32_t i = below(30'000, random); i > 0; --i) {
      array.pop_back();
      places.pop_back();
    }
  }
}

TEST_CASE("a list of numbers is a vector, in place or not, and moves") {
  NumberList list;
  std::vector<std::uint32_t> model;
  std::mt19937_64 random(2);
  for (int step = 0; step < 20'000; ++step) {
    const bool grows = step / 500 % 2 == 0;
    if (random() % 4 != (grows ? 0 : 1) && (grows || random() % 2 == 0 || model.empty())) {
      model.push_back(below(1000, random));
      list.push_back(model.back());
    } else if (!model.empty()) {
      model.pop_back();
      list.pop_back();
    }
    if (step % 7 == 0) {
      NumberList other;
      other.push_back(1);
      other = std::move(list);
      list = NumberList(std::move(other));
    }
    REQUIRE(std::equal(list.begin(), list.end(), model.begin(), model.end()));
  }
}

struct Item {
  std::uint32_t key = 0;
  std::uint32_t place = 0;
  RingLinks ring;
  std::uint32_t link = kNone;
  std::uint32_t& free_link() { return link; }
};

struct Chain {
  NumberPool<Item>& items;
  std::uint32_t& link(std::uint32_t number) const { return items[number].link; }
  std::uint64_t hash(std::uint32_t number) const { return hash_of(items[number].key); }
  // Several keys have one hash.
  static std::uint64_t hash_of(std::uint32_t key) {
    return SeededHash(7)(std::array<std::uint64_t, 1>{key / 3});
  }
};

TEST_CASE("an index finds each item that is there, and no other, however it has grown") {
  NumberPool<Item> items;
  NumberIndex index;
  std::map<std::uint32_t, std::uint32_t> model;  // number by key
  std::mt19937_64 random(3);
  const auto find = [&](std::uint32_t key) {
    return index.find(Chain::hash_of(key), Chain{items},
                      [&](std::uint32_t number) { return items[number].key == key; });
  };
  const std::uint32_t keys[] = {3, 50, 5000, 50'000, 500};
  for (int step = 0; step < 100'000; ++step) {
    const std::uint32_t key = below(keys[step / 20'000], random);
    const auto known = model.find(key);
    REQUIRE(find(key) == (known == model.end() ? kNone : known->second));
    if (known == model.end()) {
      const std::uint32_t number = items.take();
      items[number].key = key;
      index.insert(number, Chain{items});
      model[key] = number;
    } else if (random() % 3 == 0) {
      const std::uint32_t number = items.take();
      items[number].key = key;
      index.replace(known->second, number, Chain{items});
      items.give(known->second);
      known->second = number;
    } else if (random() % 2 == 0) {
      index.remove(known->second, Chain{items});
      items.give(known->second);
      model.erase(known);
    }
    REQUIRE(index.size() == model.size());
    REQUIRE(items.size() == model.size());
  }
  for (const auto& [key, number] : model) REQUIRE(find(key) == number);
  CHECK(items.end() > 10'000);
}

struct CountingChain : Chain {
  std::uint64_t hash(std::uint32_t number) const {
    ++hashed;
    return Chain::hash(number);
  }
  std::uint64_t& hashed;
};

TEST_CASE("an index that grows never hashes more than a few items at once") {
  NumberPool<Item> items;
  NumberIndex index;
  std::uint64_t most = 0, all = 0;
  constexpr std::uint32_t kItems = 200'000;
  for (std::uint32_t key = 0; key < kItems; ++key) {
    const std::uint32_t number = items.take();
    items[number].key = key;
    std::uint64_t hashed = 0;
    index.insert(number, CountingChain{{items}, hashed});
    most = std::max(most, hashed);
    all += hashed;
  }
  CHECK(most < 64);
  CHECK(all > kItems);  // it did grow
}

struct ByKey {
  NumberPool<Item>& items;
  bool before(std::uint32_t a, std::uint32_t b) const { return items[a].key > items[b].key; }
  std::uint32_t& place(std::uint32_t number) const { return items[number].place; }
};

TEST_CASE("a heap has on top the item with the greatest key, whatever comes, changes and goes") {
  NumberPool<Item> items;
  NumberHeap<NumberList> heap;
  std::vector<std::uint32_t> there;
  std::mt19937_64 random(4);
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t at = there.empty() ? 0 : below(there.size(), random);
    const std::uint32_t what = there.empty() ? 0 : below(step / 1000 % 2 == 0 ? 4 : 6, random);
    if (what <= 1) {
      there.push_back(items.take());
      items[there.back()].key = below(1000, random);
      heap.push(there.back(), ByKey{items});
    } else if (what == 2) {
      items[there[at]].key = below(1000, random);
      heap.update(there[at], ByKey{items});
    } else if (what == 3) {
      const std::uint32_t number = items.take();
      items[number].key = items[there[at]].key;
      heap.replace(there[at], number, ByKey{items});
      items.give(std::exchange(there[at], number));
    } else {
      heap.remove(there[at], ByKey{items});
      items.give(there[at]);
      there.erase(there.begin() + at);
    }
    REQUIRE(heap.size() == there.size());
    std::uint32_t greatest = 0;
    for (const std::uint32_t number : there) greatest = std::max(greatest, items[number].key);
    if (!there.empty()) REQUIRE(items[heap.top()].key == greatest);
  }
}

TEST_CASE("a ring is a list in which any item can be taken out or made the last") {
  NumberPool<Item> items;
  NumberRing ring;
  std::list<std::uint32_t> model;
  std::mt19937_64 random(5);
  for (int step = 0; step < 5000; ++step) {
    auto one = model.begin();
    if (!model.empty()) std::advance(one, random() % model.size());
    if (model.size() < 2 || random() % 3 == 0) {
      model.push_back(items.take());
      ring.push_back(model.back(), items);
    } else if (random() % 2 == 0) {
      ring.move_to_back(*one, items);
      model.splice(model.end(), model, one);
    } else {
      ring.remove(*one, items);
      items.give(*one);
      model.erase(one);
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t at = ring.first(items); at != kNone; at = ring.after(at, items))
      order.push_back(at);
    REQUIRE(std::equal(order.begin(), order.end(), model.begin(), model.end()));
    if (step % 100 == 99) {
      for (const std::uint32_t number : model) ring.remove(number, items);
      REQUIRE(ring.empty());
      for (const std::uint32_t number : model) ring.push_back(number, items);
    }
  }
}

TEST_CASE("a list by kinds has those that fit first, and tells each where it is") {
  KindList list;
  std::map<std::uint32_t, std::pair<Kind, std::uint32_t>> model;  // kind and slot
  const auto moved = [&](std::uint32_t number, std::uint32_t slot) { model[number].second = slot; };
  std::mt19937_64 random(6);
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t number = below(step / 1000 % 2 == 0 ? 30 : 4, random);
    const auto kind = static_cast<Kind>(random() % 3);
    if (const auto known = model.find(number); known == model.end()) {
      model[number].first = kind;
      list.add(number, kind, moved);
    } else if (random() % 2 == 0) {
      list.change(known->second.second, known->second.first, kind, moved);
      model[number].first = kind;
    } else {
      const auto [was, slot] = known->second;
      list.remove(slot, was, moved);
      model.erase(number);
    }
    std::uint32_t incomplete = 0, any = 0;
    Kind best = Kind::kHidden;
    for (const auto& [other, at] : model) {
      REQUIRE(list[at.second] == other);
      REQUIRE(fits(at.first, kWithAny) == (at.second < list.fitting(kWithAny)));
      REQUIRE(fits(at.first, kWithIncomplete) == (at.second < list.fitting(kWithIncomplete)));
      incomplete += fits(at.first, kWithIncomplete) ? 1 : 0;
      any += fits(at.first, kWithAny) ? 1 : 0;
      best = std::min(best, at.first);
    }
    REQUIRE(list.size() == model.size());
    REQUIRE(list.fitting(kWithIncomplete) == incomplete);
    REQUIRE(list.fitting(kWithAny) == any);
    REQUIRE(list.kind() == best);
  }
}

// `openssl mac -macopt hexkey:08070605040302010000000000000000 -macopt size:8 -macopt c-rounds:1
// -macopt d-rounds:3 SIPHASH` of the bytes 0 to 7, and 0 to 39.
TEST_CASE("the hash is SipHash-1-3 with the seed as the first half of its key") {
  const SeededHash hash(0x0102030405060708);
  std::array<std::uint8_t, 40> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  std::array<std::uint64_t, 1> short_words;
  std::array<std::uint64_t, 5> words;
  std::memcpy(short_words.data(), bytes.data(), sizeof short_words);
  std::memcpy(words.data(), bytes.data(), sizeof words);
  CHECK(hash(short_words) == 0x8218fef3664ebf27);
  CHECK(hash(words) == 0x902d8f62b03aefc4);
  CHECK(SeededHash(1)(words) != SeededHash(2)(words));
}

}  // namespace
}  // namespace firn::tracker::test
