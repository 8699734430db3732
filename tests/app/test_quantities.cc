#include <doctest/doctest.h>

#include "client/app/commands/bytes_option.h"
#include "client/app/quantities.h"

namespace firn::app {
namespace {

// What `--size TEXT` gives; nullopt if it is refused.
std::optional<std::uint64_t> bytes_of(const std::string& text) {
  CLI::App app;
  std::uint64_t bytes = 0;
  add_bytes_option(app, "--size", bytes, "");
  try {
    app.parse("--size=" + text);
  } catch (const CLI::ParseError&) {
    return std::nullopt;
  }
  return bytes;
}

TEST_CASE("sizes take binary suffixes in either case") {
  CHECK(bytes_of("0") == 0);
  CHECK(bytes_of("17") == 17);
  CHECK(bytes_of("1K") == 1024);
  CHECK(bytes_of("1k") == 1024);
  CHECK(bytes_of("10M") == 10u << 20);
  CHECK(bytes_of("3G") == std::uint64_t{3} << 30);
  CHECK(bytes_of("2T") == std::uint64_t{2} << 40);
  CHECK(bytes_of("64KiB") == 65536);
  CHECK(bytes_of("64KB") == 65536);
}

TEST_CASE("sizes that mean nothing are refused") {
  for (const char* text : {"", "K", "-1", "-1K", "1.5M", "1X", "12 apples", "99999999999999999999",
                           "99999999999999T", "0x10Q"}) {
    CAPTURE(text);
    CHECK_FALSE(bytes_of(text).has_value());
  }
}

TEST_CASE("durations take units") {
  CHECK(*parse_duration("90") == 90 * core::kSecond);
  CHECK(*parse_duration("90s") == 90 * core::kSecond);
  CHECK(*parse_duration("1.5m") == 90 * core::kSecond);
  CHECK(*parse_duration("2h") == 7200 * core::kSecond);
  CHECK(*parse_duration("1d") == 86400 * core::kSecond);
  for (const char* text : {"", "s", "-1s", "1w", "1e9d", "nan", "inf", "1 s", "999999999999d"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).ok());
  }
}

TEST_CASE("seed policies are words, ratios or durations") {
  using Kind = core::SeedPolicy::Kind;
  CHECK(parse_seed_policy("none")->kind == Kind::kNone);
  CHECK(parse_seed_policy("forever")->kind == Kind::kForever);
  CHECK(parse_seed_policy("1.5")->kind == Kind::kRatio);
  CHECK(parse_seed_policy("1.5")->ratio == 1.5);
  CHECK(parse_seed_policy("30m")->kind == Kind::kDuration);
  CHECK(parse_seed_policy("30m")->duration == 1800 * core::kSecond);
  for (const char* text : {"", "never", "-1", "1.5x", "None"}) {
    CAPTURE(text);
    const auto policy = parse_seed_policy(text);
    REQUIRE_FALSE(policy.ok());
    CHECK(policy.error().code == ErrorCode::kBadInput);
  }
}

TEST_CASE("figures are written for people") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1024) == "1.0 KiB");
  CHECK(format_bytes((1 << 20) - 1) == "1.0 MiB");
  CHECK(format_bytes(3u << 30) == "3.0 GiB");
  CHECK(format_rate(0) == "0 B/s");
  CHECK(format_rate(2048) == "2.0 KiB/s");
  CHECK(format_seconds(7) == "7s");
  CHECK(format_seconds(185) == "3m05s");
  CHECK(format_seconds(7620) == "2h07m");
  CHECK(format_seconds(356400) == "4d03h");
  CHECK(format_seconds(1.0 / 0.0) == "-");
  CHECK(format_seconds(0.0 / 0.0) == "-");
}

}  // namespace
}  // namespace firn::app
