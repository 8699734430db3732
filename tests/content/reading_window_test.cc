#include "client/content/reading_window.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace firn::content {
namespace {

constexpr std::uint64_t kGeneration = 64 * 1024;
constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kFilmTick = kSecond / 25;

// One file of so many bytes, between two others.
Info content_with(std::uint64_t before, std::uint64_t bytes, std::uint64_t after = 0) {
  Info info;
  info.files.resize(3);
  std::uint64_t offset = 0;
  const std::uint64_t sizes[] = {before, bytes, after};
  for (std::size_t file = 0; file < 3; ++file) {
    info.files[file].offset = offset;
    info.files[file].bytes = sizes[file];
    offset += sizes[file];
  }
  info.shape = {64, 1024, offset};
  return info;
}

Info film_of(std::uint64_t generations) {
  Info info;
  info.files.resize(1);
  info.files[0].bytes = generations * kGeneration;
  info.shape = {64, 1024, info.files[0].bytes};
  return info;
}

std::vector<bool> nothing_of(const Info& info) {
  return std::vector<bool>(info.shape.generation_count());
}

std::vector<std::uint32_t> numbers(const std::vector<UrgentGeneration>& urgent) {
  std::vector<std::uint32_t> found;
  for (const UrgentGeneration& each : urgent) found.push_back(each.generation);
  return found;
}

// Takes `rate` bytes per second from the window's position on, for so long.
void play(ReadingWindow& window, std::uint64_t rate, std::int64_t& now, std::int64_t duration) {
  for (const std::int64_t end = now + duration; now < end;) {
    now += kFilmTick;
    window.took(window.position(), rate * kFilmTick / kSecond, now);
  }
}

TEST_CASE("a reader that begins needs the first generations, the very first at once") {
  const Info info = film_of(100);
  ReadingWindow window(info, 0);
  CHECK(window.urgent(nothing_of(info)).empty());
  window.took(0, 0, 0);
  const auto urgent = window.urgent(nothing_of(info));
  CHECK(numbers(urgent) == std::vector<std::uint32_t>{0, 1});
  CHECK(urgent[0].due_us == 0);
  CHECK(urgent[1].due_us > 0);
  CHECK(urgent[1].due_us < kReadAheadUs);
}

TEST_CASE("the first generations after a start or a seek are awaited, what comes later is not") {
  const Info info = film_of(1000);
  ReadingWindow window(info, 0);
  std::int64_t now = 0;
  const auto awaited = [&] {
    std::vector<std::uint32_t> found;
    for (const UrgentGeneration& each : window.urgent(nothing_of(info)))
      if (each.awaited) found.push_back(each.generation);
    return found;
  };
  window.took(0, 0, now);
  CHECK(awaited() == std::vector<std::uint32_t>{0, 1});
  play(window, kGeneration, now, 20 * kSecond);
  CHECK(window.urgent(nothing_of(info)).size() > 3);
  CHECK(awaited().empty());
  window.took(700 * kGeneration, 0, now);
  CHECK(awaited() == std::vector<std::uint32_t>{700, 701});
  window.took(700 * kGeneration, kGeneration, now);
  CHECK(awaited() == std::vector<std::uint32_t>{701});
}

TEST_CASE("what a film plays in five seconds is urgent, due when the film comes to it") {
  const Info info = film_of(1000);
  ReadingWindow window(info, 0);
  const std::uint64_t rate = kGeneration;
  std::int64_t now = 7 * kSecond;
  window.took(0, 0, now);
  window.took(0, rate, now);  // the first second, into the player's buffer
  play(window, rate, now, 20 * kSecond);
  CHECK(window.rate() == doctest::Approx(rate).epsilon(0.05));
  const auto urgent = window.urgent(nothing_of(info));
  CHECK(urgent.size() >= 5);
  CHECK(urgent.size() <= 7);
  for (std::size_t i = 1; i < urgent.size(); ++i) {
    const double ahead =
        static_cast<double>(urgent[i].generation * kGeneration - window.position());
    CHECK(urgent[i].due_us == doctest::Approx(ahead / rate * kSecond).epsilon(0.06));
  }
}

TEST_CASE("a film that is taken in large pieces has the rate of one taken in small ones") {
  const Info info = film_of(1000);
  ReadingWindow window(info, 0);
  std::int64_t now = 0;
  for (int piece = 0; piece < 20; ++piece, now += 2 * kSecond)
    window.took(window.position(), 2 * kGeneration, now);
  CHECK(window.rate() > 0.7 * kGeneration);
  CHECK(window.rate() < 1.5 * kGeneration);
}

TEST_CASE("time in which there was nothing to take does not make a reader slow") {
  const Info info = film_of(1000);
  ReadingWindow window(info, 0);
  const std::uint64_t rate = kGeneration;
  std::int64_t now = 0;
  play(window, rate, now, 20 * kSecond);
  const double before = window.rate();
  for (int stall = 0; stall < 5; ++stall) {
    window.took(window.position(), 0, now);
    now += 60 * kSecond;
    play(window, rate, now, 1 * kSecond);
  }
  CHECK(window.rate() == doctest::Approx(before).epsilon(0.15));
}

TEST_CASE("a reader that pauses although there is something to take becomes slow") {
  const Info info = film_of(1000);
  ReadingWindow window(info, 0);
  std::int64_t now = 0;
  play(window, 10 * kGeneration, now, 10 * kSecond);
  CHECK(window.urgent(nothing_of(info)).size() == kUrgentMax);
  now += 60 * kSecond;
  window.took(window.position(), 1000, now);
  CHECK(window.urgent(nothing_of(info)).size() <= kReadAheadLeast + 1);
}

TEST_CASE("a seek moves the window at once and keeps the rate, also after a long pause") {
  const Info info = film_of(1000);
  ReadingWindow window(info, 0);
  std::int64_t now = 0;
  play(window, kGeneration, now, 10 * kSecond);
  const double rate = window.rate();
  now += 600 * kSecond;
  window.took(700 * kGeneration, 0, now);
  CHECK(window.rate() == rate);
  const auto urgent = window.urgent(nothing_of(info));
  CHECK(urgent.front() == UrgentGeneration{700, 0, true});
  CHECK(urgent.size() >= 5);
  CHECK(urgent.size() <= 6);
}

TEST_CASE("a copy that takes all there is needs as many generations as may be urgent") {
  const Info info = film_of(1000);
  ReadingWindow window(info, 0);
  std::int64_t now = 0;
  for (int generation = 0; generation < 400; ++generation) {
    window.took(window.position(), 0, now);
    window.took(window.position(), kGeneration, now += kSecond);
  }
  const auto urgent = window.urgent(nothing_of(info));
  CHECK(urgent.size() == kUrgentMax);
  CHECK(urgent.front().generation == 400);
  // Its pipe is full then: it counts as slow soon, however much it took before.
  play(window, kGeneration / 2, now, 30 * kSecond);
  CHECK(window.urgent(nothing_of(info)).size() <= 4);
}

TEST_CASE("at the end of a file nothing is urgent, and before the end nothing of other files") {
  const Info info = content_with(10 * kGeneration + 5, 3 * kGeneration, 10 * kGeneration);
  ReadingWindow window(info, 1);
  window.took(0, 0, 0);
  CHECK(numbers(window.urgent(nothing_of(info))) == std::vector<std::uint32_t>{10, 11, 12});
  window.took(3 * kGeneration - 10, 0, 0);
  CHECK(numbers(window.urgent(nothing_of(info))) == std::vector<std::uint32_t>{12, 13});
  window.took(3 * kGeneration - 10, 10, 0);
  CHECK(window.urgent(nothing_of(info)).empty());
  window.took(3 * kGeneration + 10, 0, 0);
  CHECK(window.urgent(nothing_of(info)).empty());
  ReadingWindow of_nothing(content_with(5, 0), 1);
  of_nothing.took(0, 0, 0);
  CHECK(of_nothing.urgent({false}).empty());
}

TEST_CASE("whatever a reader does, what is urgent lies ahead in its file, missing, soonest first") {
  std::mt19937_64 random(58);
  for (int round = 0; round < 300; ++round) {
    const Info info =
        content_with(random() % (9 * kGeneration), random() % (90 * kGeneration), random() % 90000);
    std::vector<bool> verified = nothing_of(info);
    for (std::size_t g = 0; g < verified.size(); ++g) verified[g] = random() % 3 == 0;
    ReadingWindow window(info, 1);
    const FileEntry& file = info.files[1];
    std::int64_t now = 0;
    for (int step = 0; step < 30; ++step) {
      now += static_cast<std::int64_t>(random() % (3 * kSecond));
      const bool seeks = random() % 8 == 0;
      const std::uint64_t offset = seeks ? random() % (file.bytes + 1) : window.position();
      const std::uint64_t rest = file.bytes - offset;
      window.took(offset, std::min(rest, random() % 3 * (random() % (2 * kGeneration))), now);

      const auto urgent = window.urgent(verified);
      CHECK(urgent.size() <= kUrgentMax);
      CHECK(in_turn({urgent}) == urgent);
      const std::uint64_t at = file.offset + window.position();
      for (const UrgentGeneration& each : urgent) {
        CHECK(!verified[each.generation]);
        CHECK((each.generation + 1) * kGeneration > at);
        CHECK(each.generation * kGeneration < file.offset + file.bytes);
        CHECK(each.due_us >= 0);
        CHECK(each.due_us <= kReadAheadUs);
      }
      const bool needs_now = window.position() < file.bytes && !verified[at / kGeneration];
      if (needs_now) REQUIRE(!urgent.empty());
      if (needs_now) CHECK(urgent.front().generation == at / kGeneration);
      if (needs_now) CHECK(urgent.front().due_us == 0);
    }
  }
}

TEST_CASE("several readers share the urgent places in turn, each generation once") {
  using Urgent = std::vector<UrgentGeneration>;
  CHECK(in_turn({}).empty());
  CHECK(in_turn({{{5, 0}, {6, 400}, {7, 800}}, {}, {{90, 0}, {6, 100, true}, {91, 900}}}) ==
        Urgent{{90, 0}, {5, 0}, {6, 100, true}, {7, 800}, {91, 900}});
  // However soon a reader needs its second one.
  Urgent many, one = {{500, 3 * kSecond}};
  for (std::uint32_t g = 0; g < 100; ++g) many.push_back({g, g});
  const Urgent shared = in_turn({one, many});
  CHECK(shared.size() == kUrgentMax);
  CHECK(std::ranges::count(shared, one[0]) == 1);
}

TEST_CASE("with more readers than urgent places the soonest needs come first, then later readers") {
  std::vector<std::vector<UrgentGeneration>> readers;
  for (std::uint32_t reader = 0; reader < kUrgentMax + 3; ++reader)
    readers.push_back({{10 * reader, reader == 10 ? kSecond : 0}, {10 * reader + 1, 0}});
  CHECK(numbers(in_turn(readers)) == std::vector<std::uint32_t>{90, 80, 70, 60, 50, 40, 30, 20});
}

}  // namespace
}  // namespace firn::content
