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
  const ReadingWindow window(info, 0);
  const auto urgent = window.urgent(nothing_of(info));
  CHECK(numbers(urgent) == std::vector<std::uint32_t>{0, 1});
  CHECK(urgent[0].due_us == 0);
  CHECK(urgent[1].due_us > 0);
  CHECK(urgent[1].due_us < kReadAheadUs);
}

TEST_CASE("what a film plays in five seconds is urgent, due when the film comes to it") {
  const Info info = film_of(1000);
  ReadingWindow window(info, 0);
  const std::uint64_t rate = 2 * kGeneration;
  std::int64_t now = 7 * kSecond;
  window.took(0, 0, now);
  window.took(0, rate, now);  // the first second, into the player's buffer
  play(window, rate, now, 20 * kSecond);
  CHECK(window.rate() == doctest::Approx(rate).epsilon(0.05));
  const auto urgent = window.urgent(nothing_of(info));
  CHECK(urgent.size() >= 10);
  CHECK(urgent.size() <= 12);
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
    window.took(window.position(), 4 * kGeneration, now);
  CHECK(window.rate() > 1.5 * kGeneration);
  CHECK(window.rate() < 3.0 * kGeneration);
}

TEST_CASE("time in which there was nothing to take does not make a reader slow") {
  const Info info = film_of(1000);
  ReadingWindow window(info, 0);
  const std::uint64_t rate = 3 * kGeneration;
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
  play(window, 2 * kGeneration, now, 10 * kSecond);
  const double rate = window.rate();
  now += 600 * kSecond;
  window.took(700 * kGeneration, 0, now);
  CHECK(window.rate() == rate);
  const auto urgent = window.urgent(nothing_of(info));
  CHECK(urgent.front() == UrgentGeneration{700, 0});
  CHECK(urgent.size() >= 10);
  CHECK(urgent.size() <= 11);
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
  CHECK(numbers(window.urgent(nothing_of(info))) == std::vector<std::uint32_t>{10, 11, 12});
  window.took(3 * kGeneration - 10, 0, 0);
  CHECK(numbers(window.urgent(nothing_of(info))) == std::vector<std::uint32_t>{12, 13});
  window.took(3 * kGeneration - 10, 10, 0);
  CHECK(window.urgent(nothing_of(info)).empty());
  window.took(3 * kGeneration + 10, 0, 0);
  CHECK(window.urgent(nothing_of(info)).empty());
  CHECK(ReadingWindow(content_with(5, 0), 1).urgent({false}).empty());
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
      CHECK(soonest_first(urgent) == urgent);
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
      if (needs_now)
        CHECK(urgent.front() == UrgentGeneration{static_cast<std::uint32_t>(at / kGeneration), 0});
    }
  }
}

TEST_CASE("of several readers the soonest needs come first, each generation once") {
  const auto merged = soonest_first({{5, 0}, {6, 400}, {7, 800}, {90, 0}, {6, 100}, {91, 900}});
  CHECK(merged == std::vector<UrgentGeneration>{{5, 0}, {90, 0}, {6, 100}, {7, 800}, {91, 900}});
  std::vector<UrgentGeneration> many;
  for (std::uint32_t g = 0; g < 100; ++g) many.push_back({g, 1000 - g});
  CHECK(soonest_first(many).size() == kUrgentMax);
  CHECK(soonest_first(many).front().generation == 99);
}

}  // namespace
}  // namespace firn::content
