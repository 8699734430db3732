// When which tracker is told what.
#include "client/core/mesh/trackers.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "client/core/base/uplink.h"
#include "tests/core/fixture.h"

using namespace firn;
using core::kNever;
using core::kSecond;
using core::TimeUs;
using Event = proto::AnnounceEvent;

namespace {

// Trackers at a time that is given with each call.
class Announcer {
 public:
  Announcer(std::size_t trackers, TimeUs now) : context_{{}, options(trackers), now} {}

  struct Due {
    std::size_t tracker = 0;
    Event event = Event::kPeriodic;
  };
  // What is announced.
  std::vector<Due> due(bool lonely, TimeUs now) {
    context_.now = now;
    trackers_.announce(lonely, false);
    return announced();
  }
  TimeUs next_due(bool lonely) const { return trackers_.next_due(lonely); }
  // Whether a person is told.
  bool replied(std::size_t tracker, std::uint32_t interval_seconds, TimeUs now) {
    context_.now = now;
    proto::AnnounceReply reply;
    reply.interval_seconds = interval_seconds;
    trackers_.replied(tracker, reply);
    return !outbox_.take().empty();
  }
  // Whether a person is told.
  bool failed(std::size_t tracker, std::uint32_t retry_seconds, TimeUs now,
              const std::string& why = "nobody answers") {
    context_.now = now;
    trackers_.failed(tracker, {ErrorCode::kUnreachable, "announce", why}, retry_seconds);
    return !outbox_.take().empty();
  }
  void completed(TimeUs now) {
    context_.now = now;
    trackers_.completed();
  }
  std::vector<std::size_t> to_leave() {
    trackers_.stop();
    std::vector<std::size_t> left;
    for (const Due& one : announced()) {
      CHECK(one.event == Event::kStopped);
      left.push_back(one.tracker);
    }
    return left;
  }

 private:
  static core::Options options(std::size_t trackers) {
    core::Options options = test::plain_options();
    options.trackers.assign(trackers, {std::nullopt, "tracker", 1});
    return options;
  }
  std::vector<Due> announced() {
    std::vector<Due> found;
    for (const core::Action& action : outbox_.take()) {
      if (const auto* one = std::get_if<core::AnnounceTo>(&action))
        found.push_back({one->tracker, one->announce.event});
    }
    return found;
  }

  core::Context context_;
  core::Life life_{0};
  core::Uplink uplink_{context_.options, 0};
  core::Outbox outbox_{context_, uplink_};
  core::Trackers trackers_{context_, life_, outbox_};
};

}  // namespace

TEST_CASE("every tracker is told STARTED until it answers, then asked at its interval") {
  Announcer announcer(2, 0);
  auto due = announcer.due(false, 0);
  REQUIRE(due.size() == 2);
  CHECK(due[0].event == Event::kStarted);
  CHECK(announcer.due(false, 1000 * kSecond).empty());  // both under way
  CHECK(announcer.next_due(false) == kNever);
  announcer.replied(0, 60, 0);
  announcer.failed(1, 0, 0);
  const TimeUs retry = announcer.next_due(false);
  CHECK(retry > 0);
  CHECK(retry < 60 * kSecond);
  due = announcer.due(false, 60 * kSecond);
  REQUIRE(due.size() == 2);
  CHECK(due[0].event == Event::kPeriodic);
  CHECK(due[1].event == Event::kStarted);
}

TEST_CASE("failures back off up to a bound and are news once") {
  Announcer announcer(1, 0);
  TimeUs now = 0, first = 0, gap = 0, before = 0;
  for (int i = 0; i < 20; ++i) {
    REQUIRE(announcer.due(true, now).size() == 1);
    CHECK(announcer.failed(0, 0, now) == (i == 0));
    const TimeUs next = announcer.next_due(true);
    CHECK(next - now >= gap);
    before = std::exchange(gap, next - now);
    if (i == 0) first = gap;
    now = next;
  }
  CHECK(gap > 8 * first);
  CHECK(gap == before);
  REQUIRE(announcer.due(true, now).size() == 1);
  announcer.replied(0, 10, now);
  now = announcer.next_due(false);
  REQUIRE(announcer.due(false, now).size() == 1);
  CHECK(announcer.failed(0, 0, now));  // news again
  CHECK(announcer.next_due(false) == now + first);
}

TEST_CASE("a tracker that fails for another reason is news, and so is one that works again") {
  Announcer announcer(1, 0);
  announcer.due(false, 0);
  CHECK_FALSE(announcer.replied(0, 10, 0));
  CHECK(announcer.failed(0, 0, kSecond));
  CHECK_FALSE(announcer.failed(0, 0, 2 * kSecond));
  CHECK(announcer.failed(0, 0, 3 * kSecond, "another key"));
  CHECK_FALSE(announcer.failed(0, 0, 4 * kSecond, "another key"));
  CHECK(announcer.replied(0, 10, 5 * kSecond));
  CHECK_FALSE(announcer.replied(0, 10, 6 * kSecond));
}

TEST_CASE("a tracker may ask for more patience, within reason") {
  Announcer announcer(1, 0);
  announcer.due(false, 0);
  announcer.failed(0, 100, 0);
  CHECK(announcer.next_due(false) == 100 * kSecond);
  announcer.due(false, 100 * kSecond);
  announcer.failed(0, UINT32_MAX, 100 * kSecond);
  CHECK(announcer.next_due(false) <= 24 * 3600 * kSecond);
  const TimeUs now = announcer.next_due(false);
  announcer.due(false, now);
  announcer.replied(0, UINT32_MAX, now);
  CHECK(announcer.next_due(false) <= now + 24 * 3600 * kSecond);
}

TEST_CASE("an interval of nothing does not make a storm") {
  Announcer announcer(1, 0);
  announcer.due(false, 0);
  announcer.replied(0, 0, 0);
  CHECK(announcer.next_due(false) >= kSecond / 4);
}

TEST_CASE("who is lonely asks sooner, but not a tracker that fails") {
  Announcer announcer(1, 0);
  announcer.due(true, 0);
  announcer.replied(0, 1800, 0);
  CHECK(announcer.next_due(false) == 1800 * kSecond);
  const TimeUs soon = announcer.next_due(true);
  CHECK(soon > kSecond);
  CHECK(soon <= 60 * kSecond);
  REQUIRE(announcer.due(true, soon).size() == 1);
  announcer.failed(0, 60, soon);
  CHECK(announcer.next_due(true) == soon + 60 * kSecond);
}

TEST_CASE("completion is told at once, to each tracker once") {
  Announcer announcer(2, 0);
  announcer.due(false, 0);
  announcer.replied(0, 1800, 0);
  announcer.completed(kSecond);
  auto due = announcer.due(false, kSecond);
  REQUIRE(due.size() == 1);
  CHECK(due[0].tracker == 0);
  CHECK(due[0].event == Event::kCompleted);
  // Its STARTED said that we were not complete, and was under way: told as soon as it answers.
  announcer.replied(1, 1800, 2 * kSecond);
  due = announcer.due(false, 2 * kSecond);
  REQUIRE(due.size() == 1);
  CHECK(due[0].tracker == 1);
  CHECK(due[0].event == Event::kCompleted);
  announcer.replied(0, 1800, 3 * kSecond);
  announcer.replied(1, 1800, 3 * kSecond);
  due = announcer.due(false, 1803 * kSecond);
  REQUIRE(due.size() == 2);
  CHECK(due[0].event == Event::kPeriodic);
}

TEST_CASE("only trackers that may know of us are told that we go") {
  Announcer announcer(3, 0);
  announcer.due(false, 0);
  announcer.replied(0, 60, 0);
  announcer.failed(1, 0, 0);
  CHECK(announcer.to_leave() == std::vector<std::size_t>{0, 2});
}
