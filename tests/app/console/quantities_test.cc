#include <doctest/doctest.h>

#include <string>

#include "client/app/commands/options/bytes_option.h"
#include "client/app/console/quantities.h"

namespace firn::app {
namespace {

// What an option that is added so gives; nullopt if it refuses the text.
std::optional<std::uint64_t> value_of(const std::string& text, decltype(add_bytes_option) add) {
  CLI::App app;
  std::uint64_t value = 0;
  add(app, "--it", value, "");
  try {
    app.parse("--it=" + text);
  } catch (const CLI::ParseError&) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint64_t> bytes_of(const std::string& text) {
  return value_of(text, add_bytes_option);
}

std::optional<std::uint64_t> rate_of(const std::string& text) {
  return value_of(text, add_rate_option);
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

TEST_CASE("sizes take fractions, exactly and rounded down to bytes") {
  CHECK(bytes_of("1.5M") == 1572864);
  CHECK(bytes_of("0.5G") == 536870912);
  CHECK(bytes_of("1.0K") == 1024);
  CHECK(bytes_of("0.1K") == 102);
  CHECK(bytes_of("0.3G") == 322122547);
  CHECK(bytes_of("2.5MiB") == 2621440);
  CHECK(bytes_of("0.0K") == 0);
  // More digits than a double keeps.
  CHECK(bytes_of("16777215.99999999999999999999T") == UINT64_MAX);
  CHECK(bytes_of("18446744073709551615") == UINT64_MAX);
}

TEST_CASE("sizes that mean nothing are refused") {
  for (const std::string text : {"",
                                 "K",
                                 "-1",
                                 "-1K",
                                 "+1",
                                 "1.5",
                                 "1.5B",
                                 "1X",
                                 "12 apples",
                                 "99999999999999999999",
                                 "99999999999999T",
                                 "16777216T",
                                 "18446744073709551616",
                                 "0x10Q",
                                 "0x10",
                                 "1.M",
                                 ".5M",
                                 "1.2.3M",
                                 "1,5M",
                                 "1e3",
                                 "1KK",
                                 "1iB",
                                 "0.0001K",
                                 "inf",
                                 "nan"}) {
    CAPTURE(text);
    CHECK_FALSE(bytes_of(text).has_value());
  }
}

TEST_CASE("a refused size says why, and how sizes are written") {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {{"", "empty"},
               {"-1M", "does not begin with a number"},
               {"1.5", "no fractions of a byte"},
               {" 1", "does not begin with a number"},
               {"16777216T", "too large"},
               {"0.0001K", "less than a byte"},
               {"1.5Q", "'Q' is no unit"},
               {"1.2.3M", "'1.2.3' is no number"}};
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const auto size = parse_size(c.text);
    REQUIRE_FALSE(size.ok());
    CHECK(size.error().code == ErrorCode::kBadInput);
    CAPTURE(size.error().message());
    CHECK(size.error().message().find(c.says) != std::string::npos);
    CHECK(size.error().message().find("1.5M") != std::string::npos);
  }
}

TEST_CASE("rates are sizes a second, or bits a second in powers of 1000") {
  CHECK(rate_of("10M") == 10u << 20);
  CHECK(rate_of("10MiB/s") == 10u << 20);
  CHECK(rate_of("17") == 17);
  CHECK(rate_of("8kbit") == 1000);
  CHECK(rate_of("10Mbit") == 1'250'000);
  CHECK(rate_of("10mbit/s") == 1'250'000);
  CHECK(rate_of("2.5Gbit") == 312'500'000);
  CHECK(rate_of("1Tbit") == 125'000'000'000);
  CHECK(rate_of("0.1kbit") == 12);
  for (const std::string text : {"", "10bit", "10Mbits", "10Mbps", "10Mibit", "bit", "Mbit", "1.5",
                                 "/s", "10M/s/s", "200000000Ebit"}) {
    CAPTURE(text);
    CHECK_FALSE(rate_of(text).has_value());
  }
  CHECK_FALSE(bytes_of("10Mbit").has_value());  // no size
  CHECK(parse_rate("10Mbps").error().message().find("10Mbit") != std::string::npos);
}

TEST_CASE("durations take units, from large to small") {
  const struct {
    const char* text;
    core::TimeUs duration;
  } cases[] = {
      {"90", 90 * core::kSecond},
      {"0", 0},
      {"0s", 0},
      {"90s", 90 * core::kSecond},
      {"1.5", 1500 * core::kMillisecond},
      {"1.5m", 90 * core::kSecond},
      {"30m", 1800 * core::kSecond},
      {"1h30m", 5400 * core::kSecond},
      {"2h", 7200 * core::kSecond},
      {"2d", 2 * 86400 * core::kSecond},
      {"1d2h3m4s5ms", 93784 * core::kSecond + 5 * core::kMillisecond},
      {"500ms", 500 * core::kMillisecond},
      {"0.3s", 300 * core::kMillisecond},
      {"0.29s", 290 * core::kMillisecond},  // 0.29 * 1e6 in floating point is a little less
      {"1m0.5s", 60'500 * core::kMillisecond},
      {"36500d", core::kSecond * 86400 * 36500},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const auto duration = parse_duration(c.text);
    REQUIRE(duration.ok());
    CHECK(*duration == c.duration);
  }
}

TEST_CASE("a duration that means nothing is refused with the reason") {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"", "empty"},
      {"s", "does not begin with a number"},
      {"-1s", "does not begin with a number"},
      {"+1s", "does not begin with a number"},
      {"nan", "does not begin with a number"},
      {"inf", "does not begin with a number"},
      {" 1s", "does not begin with a number"},
      {"1w", "'w' is no unit"},
      {"1 s", "' s' is no unit"},
      {"1S", "'S' is no unit"},
      {"1e9d", "'e' is no unit"},
      {"30m1h", "large to small"},
      {"1m1m", "large to small"},
      {"1h30", "'30' has no unit"},
      {"1.", "'1.' is no number"},
      {".5s", "'.5' is no number"},
      {"1.2.3s", "'1.2.3' is no number"},
      {"0.0000001s", "shorter than a microsecond"},
      {"36501d", "longer than 100 years"},
      {"36500d1s", "longer than 100 years"},
      {"999999999999d", "longer than 100 years"},
      {"99999999999999999999s", "longer than 100 years"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const auto duration = parse_duration(c.text);
    REQUIRE_FALSE(duration.ok());
    CHECK(duration.error().code == ErrorCode::kBadInput);
    CAPTURE(duration.error().message());
    CHECK(duration.error().message().find(c.says) != std::string::npos);
    CHECK(duration.error().message().find("1h30m") != std::string::npos);
  }
}

TEST_CASE("seed policies are words, ratios or durations") {
  using Kind = core::SeedPolicy::Kind;
  CHECK(parse_seed_policy("none")->kind == Kind::kNone);
  CHECK(parse_seed_policy("forever")->kind == Kind::kForever);
  CHECK(parse_seed_policy("ratio:1.5")->kind == Kind::kRatio);
  CHECK(parse_seed_policy("ratio:1.5")->ratio == 1.5);
  CHECK(parse_seed_policy("ratio:2")->ratio == 2);
  CHECK(parse_seed_policy("30m")->kind == Kind::kDuration);
  CHECK(parse_seed_policy("30m")->duration == 1800 * core::kSecond);
  CHECK(parse_seed_policy("1h30m")->duration == 5400 * core::kSecond);
  CHECK(parse_seed_policy("receivers:3")->kind == Kind::kReceived);
  CHECK(parse_seed_policy("receivers:3")->receivers == 3);
  CHECK(parse_seed_policy("idle:10m")->kind == Kind::kIdle);
  CHECK(parse_seed_policy("idle:10m")->duration == 600 * core::kSecond);
  for (const char* text : {"",
                           "never",
                           "-1",
                           "1.5x",
                           "None",
                           "ratio:",
                           "ratio:x",
                           "ratio:-1",
                           "ratio:1.5x",
                           "ratio:1e3",
                           "ratio:inf",
                           "30m1h",
                           "receivers:",
                           "receivers:0",
                           "receivers:-1",
                           "receivers:10001",
                           "receivers:2x",
                           "idle:",
                           "idle:0",
                           "idle:x"}) {
    CAPTURE(text);
    const auto policy = parse_seed_policy(text);
    REQUIRE_FALSE(policy.ok());
    CHECK(policy.error().code == ErrorCode::kBadInput);
  }
}

TEST_CASE("a number alone is no seed policy: both readings are named") {
  for (const std::string text : {"1.5", "2", "0"}) {
    CAPTURE(text);
    const auto policy = parse_seed_policy(text);
    REQUIRE_FALSE(policy.ok());
    const std::string message = policy.error().message();
    CAPTURE(message);
    CHECK(message.find("ratio:" + text) != std::string::npos);
    CHECK(message.find(text + "h") != std::string::npos);
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
