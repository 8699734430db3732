// When the limits of a schedule hold. Time is given, and the zone is one whose clocks change in the
// nights before the last Sundays of March and October.
#include "client/app/daemon/bandwidth_schedule.h"

#include <doctest/doctest.h>

#include <cstdlib>

namespace firn::app {
namespace {

// Central European time while it lives.
struct Zone {
  Zone() : before(std::getenv("TZ") ? std::getenv("TZ") : "") { set("CET-1CEST,M3.5.0,M10.5.0/3"); }
  ~Zone() { set(before); }
  static void set(const std::string& zone) {
    zone.empty() ? unsetenv("TZ") : setenv("TZ", zone.c_str(), 1);
    tzset();
  }
  const std::string before;
};

constexpr std::time_t kMinute = 60, kHour = 3600, kDay = 24 * kHour;
// Monday, 5 January 2026, 00:00 in that zone.
constexpr std::time_t kMonday = 1'767'567'600;

bool holds(const std::string& rule, std::time_t time) {
  const Zone zone;
  return BandwidthSchedule({parse_schedule_rule(rule).value()}).at(time) != nullptr;
}

TEST_CASE("a rule holds on its days, from its first minute until before its last") {
  const std::string rule = "mon-fri 08:00-18:00 up=1M";
  CHECK_FALSE(holds(rule, kMonday + 8 * kHour - 1));
  CHECK(holds(rule, kMonday + 8 * kHour));
  CHECK(holds(rule, kMonday + 18 * kHour - 1));
  CHECK_FALSE(holds(rule, kMonday + 18 * kHour));
  CHECK(holds(rule, kMonday + 4 * kDay + 12 * kHour));
  CHECK_FALSE(holds(rule, kMonday + 5 * kDay + 12 * kHour));
  CHECK(holds("daily 00:00-24:00 up=1", kMonday + 6 * kDay + kDay - 1));
  CHECK(holds("tue,sat-mon 00:00-24:00 up=1", kMonday + 6 * kDay));
  CHECK_FALSE(holds("tue,sat-mon 00:00-24:00 up=1", kMonday + 3 * kDay));
}

TEST_CASE("a rule that crosses midnight belongs to the day on which it begins") {
  const std::string rule = "fri 22:00-06:00 down=none";
  CHECK_FALSE(holds(rule, kMonday + 4 * kDay + 3 * kHour));
  CHECK(holds(rule, kMonday + 4 * kDay + 22 * kHour));
  CHECK(holds(rule, kMonday + 5 * kDay + 6 * kHour - 1));
  CHECK_FALSE(holds(rule, kMonday + 5 * kDay + 6 * kHour));
  CHECK_FALSE(holds(rule, kMonday + 5 * kDay + 22 * kHour));
  CHECK(holds("sat 22:00-06:00 up=1", kMonday + 6 * kDay + kHour));  // on Sunday morning
}

TEST_CASE("a rule follows the clock on the wall where summer time begins and ends") {
  const std::time_t march = 1'774'738'800;  // Sunday, 29 March 2026, 00:00: 02:00 becomes 03:00
  CHECK(holds("sun 08:00-09:00 up=1", march + 7 * kHour));
  CHECK_FALSE(holds("sun 08:00-09:00 up=1", march + 8 * kHour));
  CHECK_FALSE(holds("sun 02:00-03:00 up=1", march + 2 * kHour - kMinute));
  CHECK_FALSE(holds("sun 02:00-03:00 up=1", march + 2 * kHour));
  const std::time_t october = 1'792'879'200;  // Sunday, 25 October 2026, 00:00: 03:00 becomes 02:00
  CHECK(holds("sun 02:00-03:00 up=1", october + 2 * kHour));
  CHECK(holds("sun 02:00-03:00 up=1", october + 3 * kHour));
  CHECK_FALSE(holds("sun 02:00-03:00 up=1", october + 4 * kHour));
  CHECK(holds("sun 08:00-09:00 up=1", october + 9 * kHour));
}

TEST_CASE("the first rule that holds counts") {
  const Zone zone;
  const BandwidthSchedule schedule({parse_schedule_rule("mon 10:00-11:00 up=1K").value(),
                                    parse_schedule_rule("daily 00:00-24:00 up=2K").value()});
  CHECK(schedule.at(kMonday + 10 * kHour)->up == 1024);
  CHECK(schedule.at(kMonday + 11 * kHour)->up == 2048);
  CHECK_FALSE(schedule.at(kMonday)->down);
  CHECK(BandwidthSchedule().at(kMonday) == nullptr);
}

TEST_CASE("a schedule that makes no sense is refused") {
  for (const char* wrong :
       {"", "mon", "mon 08:00-09:00", "mon 08:00 up=1", "mon 8:00-9:00 up=1", "mo 08:00-09:00 up=1",
        "mon- 08:00-09:00 up=1", "mon, 08:00-09:00 up=1", "mon 08:00-08:00 up=1",
        "mon 24:00-01:00 up=1", "mon 08:60-09:00 up=1", "mon 08:00-24:01 up=1",
        "mon 08:00-09:00 up=fast", "mon 08:00-09:00 sideways=1", "mon 08:00-09:00 up"})
    CHECK_MESSAGE(!parse_schedule_rule(wrong).ok(), wrong);
  CHECK(parse_schedule_rule("mon 08:00-09:00 down=none").value().down == 0);
}

}  // namespace
}  // namespace firn::app
