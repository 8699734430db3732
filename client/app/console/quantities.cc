#include "client/app/console/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace firn::app {
namespace {

enum class NumberFault { kNone, kNotANumber, kTooLarge, kTooSmall };

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// NUMBER x unit, rounded down: the number has digits and perhaps a point with digits after it. In
// integers, so that no fraction is a little more or less than it was written.
NumberFault multiply(std::string_view number, std::uint64_t unit, std::uint64_t& product) {
  const std::size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  std::string_view fraction;
  if (point != std::string_view::npos) {
    fraction = number.substr(point + 1);
    if (fraction.empty()) return NumberFault::kNotANumber;
  }
  if (whole.empty() || !std::ranges::all_of(whole, is_digit) ||
      !std::ranges::all_of(fraction, is_digit))
    return NumberFault::kNotANumber;
  std::uint64_t units = 0;
  const auto error = std::from_chars(whole.data(), whole.data() + whole.size(), units).ec;
  if (error != std::errc{} || units > UINT64_MAX / unit) return NumberFault::kTooLarge;
  // Rounding down after every digit, from the last one, gives what rounding once at the end does.
  std::uint64_t part = 0;
  bool nothing = units == 0;
  for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit) {
    nothing &= *digit == '0';
    part = (static_cast<std::uint64_t>(*digit - '0') * unit + part) / 10;
  }
  product = units * unit;
  if (product > UINT64_MAX - part) return NumberFault::kTooLarge;
  product += part;
  return product == 0 && !nothing ? NumberFault::kTooSmall : NumberFault::kNone;
}

// How much of `text` may be a number.
std::size_t number_length(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789."), text.size());
}

struct TimeUnit {
  std::string_view name;
  core::TimeUs length;
};

// As they must follow each other.
constexpr TimeUnit kTimeUnits[] = {{"d", 86400 * core::kSecond},
                                   {"h", 3600 * core::kSecond},
                                   {"m", 60 * core::kSecond},
                                   {"s", core::kSecond},
                                   {"ms", core::kMillisecond}};

// A longer duration means "forever" to anybody, and might overflow a sum with the present.
constexpr core::TimeUs kDurationMax = core::kSecond * 86400 * 365 * 100;

// Bytes of a unit in small letters; 0: it is none.
using BytesOf = std::uint64_t (*)(std::string_view unit);

constexpr std::string_view kPrefixes = "kmgtpe";

std::uint64_t bytes_of_size(std::string_view unit) {
  if (unit.empty() || unit == "b") return 1;
  const std::size_t prefix = kPrefixes.find(unit.front());
  const std::string_view ending = unit.substr(1);
  if (prefix == std::string_view::npos || (!ending.empty() && ending != "b" && ending != "ib"))
    return 0;
  return std::uint64_t{1} << 10 * (prefix + 1);
}

std::uint64_t bytes_of_rate(std::string_view unit) {
  if (unit.size() != 4 || !unit.ends_with("bit")) return bytes_of_size(unit);
  const std::size_t prefix = kPrefixes.find(unit.front());
  if (prefix == std::string_view::npos) return 0;
  std::uint64_t bytes = 125;  // of a kbit
  for (std::size_t i = 0; i < prefix; ++i) bytes *= 1000;
  return bytes;
}

struct BytesText {
  std::string_view whole;     // as it was given
  const char* kind;           // "size"
  const char* examples;       // "512K or 1.5M"
  std::string_view quantity;  // number and unit
  BytesOf bytes_of;
};

Result<std::uint64_t> parse_bytes(const BytesText& text) {
  const auto bad = [&](const std::string& why) {
    return Error{ErrorCode::kBadInput, fmt::format("{} '{}'", text.kind, text.whole),
                 why + "; write bytes, or a number with K, M, G or T, such as " + text.examples};
  };
  const std::size_t digits = number_length(text.quantity);
  if (text.quantity.empty()) return bad("it is empty");
  if (digits == 0) return bad("it does not begin with a number");
  const std::string_view number = text.quantity.substr(0, digits);
  std::string unit(text.quantity.substr(digits));
  std::ranges::transform(unit, unit.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  const std::uint64_t scale = text.bytes_of(unit);
  if (scale == 0)
    return bad(fmt::format("'{}' is no unit of {}", text.quantity.substr(digits), text.kind));
  if (scale == 1 && number.find('.') != std::string_view::npos)
    return bad("there are no fractions of a byte");
  std::uint64_t bytes = 0;
  switch (multiply(number, scale, bytes)) {
    case NumberFault::kNotANumber:
      return bad(fmt::format("'{}' is no number", number));
    case NumberFault::kTooLarge:
      return bad("it is too large");
    case NumberFault::kTooSmall:
      return bad("it is less than a byte");
    case NumberFault::kNone:
      break;
  }
  return bytes;
}

bool is_number(std::string_view text) {
  std::uint64_t ignored = 0;
  const NumberFault fault = multiply(text, 1, ignored);
  return fault == NumberFault::kNone || fault == NumberFault::kTooSmall;
}

}  // namespace

Result<core::TimeUs> parse_duration(std::string_view text) {
  const auto bad = [&](const std::string& why) {
    return Error{ErrorCode::kBadInput, fmt::format("duration '{}'", text),
                 why + "; write 90s, 30m, 1h30m, 2d or 500ms (a number alone counts seconds)"};
  };
  if (text.empty()) return bad("it is empty");
  core::TimeUs sum = 0;
  const TimeUnit* next = std::begin(kTimeUnits);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t digits = number_length(rest);
    if (digits == 0) return bad(fmt::format("'{}' does not begin with a number", rest));
    const std::string_view number = rest.substr(0, digits);
    const std::size_t letters =
        std::min(rest.find_first_of("0123456789.", digits), rest.size()) - digits;
    std::string_view name = rest.substr(digits, letters);
    rest.remove_prefix(digits + letters);
    if (name.empty() && number.size() == text.size()) name = "s";
    if (name.empty()) return bad(fmt::format("'{}' has no unit", number));
    const TimeUnit* const unit = std::ranges::find(kTimeUnits, name, &TimeUnit::name);
    if (unit == std::end(kTimeUnits)) return bad(fmt::format("'{}' is no unit of time", name));
    if (unit < next) return bad("its units do not go from large to small, each once");
    next = unit + 1;
    std::uint64_t length = 0;
    const NumberFault fault = multiply(number, static_cast<std::uint64_t>(unit->length), length);
    if (fault == NumberFault::kNotANumber) return bad(fmt::format("'{}' is no number", number));
    if (fault == NumberFault::kTooSmall) return bad("it is shorter than a microsecond");
    if (fault == NumberFault::kTooLarge || length > static_cast<std::uint64_t>(kDurationMax - sum))
      return bad("it is longer than 100 years");
    sum += static_cast<core::TimeUs>(length);
  }
  return sum;
}

Result<std::uint64_t> parse_size(std::string_view text) {
  return parse_bytes({text, "size", "512K or 1.5M", text, bytes_of_size});
}

Result<std::uint64_t> parse_rate(std::string_view text) {
  std::string_view amount = text;
  if (amount.ends_with("/s")) amount.remove_suffix(2);
  return parse_bytes({text, "rate", "512K, 1.5M or 10Mbit", amount, bytes_of_rate});
}

Result<core::SeedPolicy> parse_seed_policy(std::string_view text, std::string_view option) {
  using Kind = core::SeedPolicy::Kind;
  constexpr std::string_view kRatio = "ratio:", kReceivers = "receivers:", kIdle = "idle:";
  constexpr std::uint32_t kReceiversMax = 10'000;  // fresh keys cost nothing
  const auto bad = [&](const std::string& why) {
    return Error{ErrorCode::kBadInput, fmt::format("{} {}", option, text), why};
  };
  core::SeedPolicy policy;
  if (text == "none") {
    policy.kind = Kind::kNone;
  } else if (text == "forever") {
    policy.kind = Kind::kForever;
  } else if (text.starts_with(kRatio)) {
    const std::string_view number = text.substr(kRatio.size());
    if (!is_number(number)) return bad("a ratio is written as in ratio:1.5");
    policy.kind = Kind::kRatio;
    std::from_chars(number.data(), number.data() + number.size(), policy.ratio);
  } else if (text.starts_with(kReceivers)) {
    const std::string_view number = text.substr(kReceivers.size());
    const char* const end = number.data() + number.size();
    const auto read = std::from_chars(number.data(), end, policy.receivers);
    if (read.ec != std::errc() || read.ptr != end || policy.receivers == 0 ||
        policy.receivers > kReceiversMax)
      return bad(fmt::format("expected a number of receivers from 1 to {}", kReceiversMax));
    policy.kind = Kind::kReceived;
  } else if (text.starts_with(kIdle)) {
    const auto duration = parse_duration(text.substr(kIdle.size()));
    if (!duration.ok() || *duration == 0) return bad("a time is written as in idle:10m");
    policy.kind = Kind::kIdle;
    policy.duration = *duration;
  } else if (is_number(text)) {
    return bad(
        fmt::format("it could be a ratio or a time: write ratio:{0}, or {0} with a unit, "
                    "such as {0}m or {0}h",
                    text));
  } else if (const auto duration = parse_duration(text); duration.ok()) {
    policy.kind = Kind::kDuration;
    policy.duration = *duration;
  } else if (!text.empty() && is_digit(text.front())) {
    return bad("it is no duration; write one with its units, such as 90s, 30m, 1h30m or 500ms");
  } else {
    return bad(
        "expected none, forever, a ratio such as ratio:1.5, a duration such as 30m, receivers:N or "
        "idle:10m");
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

std::string format_duration(core::TimeUs duration) {
  if (duration >= 60 * core::kSecond || duration % core::kSecond == 0)
    return format_seconds(1e-6 * static_cast<double>(duration));
  if (duration < core::kSecond) return fmt::format("{:g}ms", 1e-3 * static_cast<double>(duration));
  return fmt::format("{:g}s", 1e-6 * static_cast<double>(duration));
}

}  // namespace firn::app
