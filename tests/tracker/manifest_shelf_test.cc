// Which manifests make room for another.
#include "tracker/manifest_shelf.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/tracker/tracker_fixture.h"

namespace firn::tracker::test {
namespace {

// The rule of in_the_way_of() word for word: looks through all for each that leaves.
class PlainShelf {
 public:
  explicit PlainShelf(const RegistryLimits& limits) : limits_(limits) {}

  void add(const ContentId& content, const std::string& prefix, std::uint64_t bytes) {
    list_.push_back({content, prefix, bytes});
  }
  void use(const ContentId& content) {
    const auto found = std::find(list_.begin(), list_.end(), content);
    if (found != list_.end()) std::rotate(found, found + 1, list_.end());
  }
  void remove(const ContentId& content) { std::erase(list_, content); }
  std::vector<ContentId> in_the_way_of(const std::string& prefix, std::uint64_t bytes) const {
    PlainShelf rest = *this;
    std::vector<ContentId> leaving;
    const auto takes_over = [&](std::uint64_t shares, const std::string* of) {
      std::uint64_t sum = bytes;
      std::size_t count = 1;
      for (const One& one : rest.list_) {
        if (of != nullptr && one.prefix != *of) continue;
        sum += one.bytes;
        ++count;
      }
      return count > 1 && (sum > limits_.manifest_bytes_total_max / shares ||
                           count > limits_.manifest_count_max / shares);
    };
    while (takes_over(limits_.manifest_shares, &prefix)) rest.take(&prefix, leaving);
    while (takes_over(1, nullptr)) {
      std::map<std::string, std::uint64_t> room;
      for (const One& one : rest.list_) room[one.prefix] += room_of(one.bytes);
      std::pair<std::uint64_t, std::string> most;
      for (const auto& [name, sum] : room) most = std::max(most, {sum, name});
      const bool has_some = room.contains(prefix);
      if (most.second != prefix && room[prefix] + room_of(bytes) < most.first)
        rest.take(&most.second, leaving);
      else
        rest.take(has_some ? &prefix : nullptr, leaving);
    }
    return leaving;
  }

 private:
  struct One {
    ContentId content;
    std::string prefix;
    std::uint64_t bytes;
    bool operator==(const ContentId& other) const { return content == other; }
  };
  std::uint64_t room_of(std::uint64_t bytes) const {
    return bytes + limits_.manifest_bytes_total_max / limits_.manifest_count_max;
  }
  // The longest unused of the prefix, or of all.
  void take(const std::string* prefix, std::vector<ContentId>& leaving) {
    const auto found = std::find_if(list_.begin(), list_.end(), [&](const One& one) {
      return prefix == nullptr || one.prefix == *prefix;
    });
    leaving.push_back(found->content);
    list_.erase(found);
  }

  RegistryLimits limits_;
  std::vector<One> list_;  // last used comes last
};

TEST_CASE("what makes room for a manifest is what the rule says") {
  for (const std::uint32_t seed : {1, 2, 3, 4, 5, 6}) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t end) {
      return static_cast<std::uint32_t>(random() % end);
    };
    const RegistryLimits limits{.manifest_count_max = 20 + below(60),
                                .manifest_bytes_total_max = 1000 + below(2000),
                                .manifest_shares = 1 + below(5)};
    ManifestShelf shelf(limits);
    PlainShelf plain(limits);
    const std::uint32_t prefixes = 2 + below(30);
    std::size_t most = 0;
    for (std::uint32_t number = 0; number < 600; ++number) {
      if (number > 0 && below(3) == 0) {
        const ContentId used = content(below(number));
        shelf.use(used);
        plain.use(used);
      }
      const std::string prefix = "net " + std::to_string(below(prefixes));
      const auto total = static_cast<std::uint32_t>(limits.manifest_bytes_total_max);
      const std::uint64_t bytes = 1 + below(below(12) == 0 ? total : total / 20);
      std::vector<ContentId> leaving;
      for (const Envelope& one : shelf.in_the_way_of(content(number), prefix, bytes))
        leaving.push_back(one.content);
      REQUIRE(leaving == plain.in_the_way_of(prefix, bytes));
      most = std::max(most, leaving.size());
      for (const ContentId& one : leaving) {
        shelf.remove(one);
        plain.remove(one);
      }
      shelf.add(content(number), prefix, bytes);
      plain.add(content(number), prefix, bytes);
    }
    CHECK(most > 5);
  }
}

// If time grew as the square of their number, this would outlast the timeout of the suite.
TEST_CASE("a large manifest takes the place of a great many small ones") {
  constexpr std::uint32_t kCount = 400'000, kPrefixes = 80'000;
  constexpr std::uint64_t kBytes = 10 << 10;
  ManifestShelf shelf(
      {.manifest_count_max = kCount + 1, .manifest_bytes_total_max = kCount * kBytes});
  for (std::uint32_t number = 0; number < kCount; ++number)
    shelf.add(content(number), std::to_string(number % kPrefixes), kBytes);
  const auto leaving = shelf.in_the_way_of(content(kCount), "another", kCount * kBytes / 4);
  REQUIRE(leaving.size() == kCount / 4);
  // From each its longest unused first: all prefixes have lost one before any loses a second.
  std::vector<bool> has_lost(kPrefixes);
  for (std::uint32_t i = 0; i < kPrefixes; ++i) {
    std::uint32_t number = 0;
    for (int byte = 0; byte < 4; ++byte)
      number |= static_cast<std::uint32_t>(leaving[i].content.bytes[byte]) << 8 * byte;
    REQUIRE(number < kPrefixes);
    REQUIRE_FALSE(has_lost[number]);
    has_lost[number] = true;
  }
}

}  // namespace
}  // namespace firn::tracker::test
