// Which address of a full book gives way.
#include "client/core/mesh/book_shares.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

using namespace firn::core::policy;

namespace {

// A book of `size` that takes what it is told.
struct Book {
  explicit Book(std::size_t most) : size(most) {}

  bool tell(const std::string& source, const std::string& prefix, std::uint64_t turn) {
    std::vector<KeptAddress> kept;
    for (const Line& line : lines) kept.push_back(view(line));
    const Line line{source, prefix, turn, 0};
    if (lines.size() < size) return lines.push_back(line), true;
    const auto gone = gives_way(kept, view(line));
    if (!gone) return false;
    lines[*gone] = line;
    return true;
  }
  std::size_t of(const std::string& source) const {
    return static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(), [&](const auto& line) { return line.source == source; }));
  }
  std::size_t in(const std::string& prefix) const {
    return static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(), [&](const auto& line) { return line.prefix == prefix; }));
  }

  struct Line {
    std::string source, prefix;
    std::uint64_t turn;
    std::uint32_t failures;
  };
  static KeptAddress view(const Line& line) {
    return {&line.source, &line.prefix, line.turn, line.failures};
  }
  std::size_t size;
  std::vector<Line> lines;
};

}  // namespace

TEST_CASE("an address that failed gives way first, that with most failures") {
  Book book(3);
  for (std::uint64_t i = 0; i < 3; ++i) book.tell("a", "p", i);
  book.lines[1].failures = 2;
  book.lines[2].failures = 3;
  CHECK(book.tell("b", "q", 99));
  CHECK(book.lines[2].source == "b");
}

TEST_CASE("a source that names very many addresses keeps no more than its share") {
  Book book(100);
  for (std::uint64_t i = 0; i < 10'000; ++i)
    book.tell("liar", std::to_string(i), i * 7919 % 10'007);
  for (std::uint64_t i = 0; i < 200; ++i) {
    book.tell("b", std::to_string(i), 1'000'000 + i);
    book.tell("c", std::to_string(i), 2'000'000 + i);
  }
  CHECK(book.of("liar") <= 35);
  CHECK(book.of("b") >= 32);
  CHECK(book.of("c") >= 32);
}

TEST_CASE("of one source a sample is kept that does not depend on the order") {
  Book up(10), down(10);
  for (std::uint64_t i = 0; i < 100; ++i) {
    up.tell("a", "p", i);
    down.tell("a", "p", 99 - i);
  }
  for (const Book* book : {&up, &down}) {
    CHECK(std::all_of(book->lines.begin(), book->lines.end(),
                      [](const auto& line) { return line.turn < 10; }));
  }
}

TEST_CASE("one prefix cannot fill the share of its source") {
  Book book(100);
  for (std::uint64_t i = 0; i < 1000; ++i) book.tell("a", "crowded", i);
  for (std::uint64_t i = 0; i < 60; ++i) CHECK(book.tell("a", std::to_string(i), 5000 + i));
  CHECK(book.in("crowded") == 40);
}
