// Which contents have a place, and which wait.
#include "client/app/daemon/content_queue.h"

#include <doctest/doctest.h>

#include <string>

namespace firn::app {
namespace {

QueueEntry download(std::int64_t position, std::int64_t priority = 0, unsigned yields = 0) {
  return {true, false, priority, position, yields};
}
QueueEntry seed(std::int64_t position, std::int64_t priority = 0) {
  return {true, true, priority, position, 0};
}

// 'R' for one that runs, the number of one that waits, '-' for neither.
std::string told(const std::vector<QueueEntry>& entries, const QueueLimits& limits) {
  std::string text;
  for (const QueuePlace& place : places_of(entries, limits))
    text += place.runs ? "R" : place.waits_as ? std::to_string(place.waits_as) : "-";
  return text;
}

TEST_CASE("the first downloads and the first seeds have places, each kind its own") {
  CHECK(told({download(1), download(2), download(3), seed(4), seed(5)}, {2, 1}) == "RR1R1");
  CHECK(told({download(3), download(2), download(1)}, {1, 0}) == "21R");
  CHECK(told({download(1), seed(2), seed(3)}, {0, 0}) == "RRR");
  CHECK(told({}, {1, 1}).empty());
}

TEST_CASE("one that does not want to be active takes no place") {
  QueueEntry paused = download(1);
  paused.wants = false;
  CHECK(told({paused, download(2), download(3)}, {1, 1}) == "-R1");
}

TEST_CASE("priority goes before position") {
  CHECK(told({download(1, -1), download(2), download(3, 1)}, {1, 0}) == "21R");
}

TEST_CASE("a download that has yielded goes after all others until it moves again") {
  CHECK(told({download(1, 1, 1), download(2), download(3)}, {2, 0}) == "1RR");
  CHECK(told({download(1, 1, 1), download(2)}, {2, 0}) == "RR");
  CHECK(places_of({download(1), download(2)}, {1, 0})[0].others_wait);
  CHECK_FALSE(places_of({download(1), download(2)}, {2, 0})[0].others_wait);
}

TEST_CASE("a download yields when it stands still for long, and only if others wait") {
  QueueProgress progress;
  progress.session_began(0);
  progress.sample(0, false, false, 300, 1000);
  CHECK(progress.yields() == 0);
  progress.session_began(1000);
  progress.sample(0, false, true, 300, 1299);
  CHECK(progress.yields() == 0);
  progress.sample(0, false, true, 300, 1300);
  CHECK(progress.yields() == 1);
  progress.session_began(2000);
  progress.sample(50, false, true, 300, 2100);  // that of an earlier session
  CHECK(progress.yields() == 1);
  progress.sample(50, false, true, 300, 2399);
  CHECK(progress.yields() == 1);
  progress.sample(51, false, true, 300, 2399);
  CHECK(progress.yields() == 0);
}

TEST_CASE("a download that reads its files does not stand still") {
  QueueProgress progress;
  progress.session_began(0);
  progress.sample(0, true, true, 300, 1000);
  progress.sample(0, false, true, 300, 1299);
  CHECK(progress.yields() == 0);
  progress.sample(0, false, true, 300, 1300);
  CHECK(progress.yields() == 1);
  progress.forgive();
  CHECK(progress.yields() == 0);
}

}  // namespace
}  // namespace firn::app
