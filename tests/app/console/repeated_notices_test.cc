#include "client/app/console/repeated_notices.h"

#include <doctest/doctest.h>

namespace firn::app {
namespace {

const ContentId kContent = {};

core::Notice notice(const std::string& text, const std::string& topic = "broke the protocol") {
  return {core::Notice::Kind::kWarning, text, topic};
}

TEST_CASE("of what strangers cause without end a few lines are said, and then their number") {
  RepeatedNotices notices;
  int said = 0;
  core::TimeUs now = 0;
  for (int i = 0; i < 300; ++i)  // in one second
    said += notices.take(notice("peer " + std::to_string(i)), kContent, now += 1000) ? 1 : 0;
  CHECK(said == 8);
  CHECK(notices.due(now).empty());
  const auto told = notices.due(now + 10 * core::kSecond);
  REQUIRE(told.size() == 1);
  CHECK(told[0].notice.text == "peer 299 (and 291 more like this before it)");
  CHECK(told[0].notice.kind == core::Notice::Kind::kWarning);
  CHECK(notices.due(now + 1000 * core::kSecond).empty());
}

TEST_CASE("a day of faults, 300 a second, is a line in ten seconds") {
  RepeatedNotices notices;
  std::size_t lines = 0;
  constexpr int kSecondsLong = 600;
  for (int second = 0; second < kSecondsLong; ++second) {
    const core::TimeUs now = second * core::kSecond;
    for (int i = 0; i < 300; ++i) lines += notices.take(notice("peer"), kContent, now) ? 1 : 0;
    lines += notices.due(now).size();
  }
  CHECK(lines <= 8 + kSecondsLong / 10);
  CHECK(lines >= kSecondsLong / 10);
}

TEST_CASE("a rare notice is said at once and alone, whatever others do") {
  RepeatedNotices notices;
  for (int i = 0; i < 1000; ++i) (void)notices.take(notice("often"), kContent, 0);
  CHECK(notices.take(notice("seldom", "refused us"), kContent, 0) == "seldom");
  for (int hour = 1; hour < 30; ++hour)
    CHECK(notices.take(notice("hourly", "useless"), kContent, hour * 3600 * core::kSecond) ==
          "hourly");
}

TEST_CASE("what was passed over keeps its content, and is told at the end at the latest") {
  RepeatedNotices notices;
  ContentId other;
  other.bytes[0] = 1;
  for (int i = 0; i < 8; ++i) (void)notices.take(notice("first"), kContent, 0);
  CHECK_FALSE(notices.take(notice("last"), other, 0));
  const auto told = notices.due(std::nullopt);
  REQUIRE(told.size() == 1);
  CHECK(told[0].notice.text == "last");
  CHECK(told[0].content == other);
  CHECK(notices.due(std::nullopt).empty());
}

TEST_CASE("topics without end are told together") {
  RepeatedNotices notices;
  std::size_t said = 0;
  for (int i = 0; i < 1000; ++i)
    said += notices.take(notice("text", std::to_string(i)), kContent, 0) ? 1 : 0;
  CHECK(said < 100);
}

}  // namespace
}  // namespace firn::app
