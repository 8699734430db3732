#include "client/app/quantities.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace firn::app {
namespace {

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

double seconds_in(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    default:
      return 0;
  }
}

// Longer durations mean "forever" to anybody, and would overflow TimeUs.
constexpr double kSecondsMax = 100.0 * 365 * 86400;

}  // namespace

Result<core::TimeUs> parse_duration(std::string_view text) {
  const Error bad{ErrorCode::kBadInput, fmt::format("duration '{}'", text),
                  "expected a number with s, m, h or d, such as 30s or 2h"};
  if (text.empty()) return bad;
  double unit = seconds_in(text.back());
  const std::string_view digits = unit > 0 ? text.substr(0, text.size() - 1) : text;
  if (unit == 0) unit = 1;
  const auto number = parse_number(digits);
  if (!number || *number * unit > kSecondsMax) return bad;
  return static_cast<core::TimeUs>(*number * unit * core::kSecond);
}

Result<core::SeedPolicy> parse_seed_policy(std::string_view text) {
  using Kind = core::SeedPolicy::Kind;
  core::SeedPolicy policy;
  if (text == "none") {
    policy.kind = Kind::kNone;
  } else if (text == "forever") {
    policy.kind = Kind::kForever;
  } else if (const auto ratio = parse_number(text)) {
    policy.kind = Kind::kRatio;
    policy.ratio = *ratio;
  } else if (const auto duration = parse_duration(text); duration.ok()) {
    policy.kind = Kind::kDuration;
    policy.duration = *duration;
  } else {
    return Error{ErrorCode::kBadInput, fmt::format("--seed {}", text),
                 "expected none, forever, a ratio such as 1.5, or a duration such as 30m"};
  }
  return policy;
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const char* const* unit = units;
  value /= 1024;
  while (value >= 1023.95 && unit < units + 5) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, *unit);
}

std::string format_rate(double bytes_per_second) {
  if (!(bytes_per_second > 0)) return "0 B/s";
  return format_bytes(static_cast<std::uint64_t>(bytes_per_second)) + "/s";
}

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 366.0 * 86400) return "-";
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
  return fmt::format("{}d{:02}h", whole / 86400, whole % 86400 / 3600);
}

}  // namespace firn::app
