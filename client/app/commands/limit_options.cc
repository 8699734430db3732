#include "client/app/commands/limit_options.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/app/console/quantities.h"

namespace firn::app {
namespace {

using Limit = std::optional<std::int64_t>;
using ReadLimit = Result<std::int64_t> (*)(const std::string& text);

// As of the daemon's methods: every whole number up to it is one of a double's.
constexpr std::int64_t kLimitMax = 9'000'000'000'000'000;

Error bad_limit(const std::string& text, const std::string& why) {
  return {ErrorCode::kBadInput, "limit '" + text + "'", why};
}

Result<std::int64_t> read_rate(const std::string& text) {
  const auto rate = parse_size(text);
  if (!rate.ok()) return rate.error();
  if (*rate > kLimitMax) return bad_limit(text, "it is too large");
  return static_cast<std::int64_t>(*rate);
}

Result<std::int64_t> read_ratio(const std::string& text) {
  std::size_t used = 0;
  double ratio = -1;
  try {
    ratio = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || !std::isfinite(ratio) || ratio < 0 || ratio > 1e6)
    return bad_limit(text, "write a number such as 1.5, none or default");
  const auto thousandths = static_cast<std::int64_t>(std::llround(ratio * 1000));
  if (thousandths == 0 && ratio > 0) return bad_limit(text, "it is less than 0.001");
  return thousandths;
}

Result<std::int64_t> read_time(const std::string& text) {
  const auto time = parse_duration(text);
  if (!time.ok()) return time.error();
  if (*time > 0 && *time < core::kSecond) return bad_limit(text, "it is less than a second");
  return *time / core::kSecond;
}

Result<std::int64_t> read_limit(const std::string& text, ReadLimit read) {
  if (text == "none") return LimitValues::kNone;
  if (text == "default") return LimitValues::kUnset;
  return read(text);
}

template <ReadLimit kRead>
std::string check_limit(const std::string& text) {
  const auto limit = read_limit(text, kRead);
  return limit.ok() ? "" : limit.error().message();
}

Limit limit_of(const std::string& text, ReadLimit read) {
  if (text.empty()) return std::nullopt;
  const auto limit = read_limit(text, read);
  return limit.ok() ? Limit(*limit) : std::nullopt;
}

void add_param(const Limit& limit, std::int64_t unit, const char* name, Json& params) {
  if (!limit) return;
  if (*limit == LimitValues::kUnset) {
    params[name] = "default";
  } else if (*limit == LimitValues::kNone) {
    params[name] = "none";
  } else {
    params[name] = static_cast<double>(*limit) / static_cast<double>(unit);
  }
}

}  // namespace

void add_rate_options(CLI::App& app, LimitTexts& texts) {
  app.add_option("--up", texts.up, "bytes per second sent at most (1M), none, or default")
      ->option_text("RATE")
      ->configurable(false)
      ->check(check_limit<read_rate>);
  app.add_option("--down", texts.down, "bytes per second received at most, none, or default")
      ->option_text("RATE")
      ->configurable(false)
      ->check(check_limit<read_rate>);
}

void add_goal_options(CLI::App& app, LimitTexts& texts, const std::string& which) {
  app.add_option("--seed-ratio", texts.seed_ratio,
                 "stop seeding once this many times the content's bytes were sent (1.5)" + which)
      ->option_text("RATIO")
      ->configurable(false)
      ->check(check_limit<read_ratio>);
  app.add_option("--seed-time", texts.seed_time,
                 "stop seeding after this time of it, all runs together (12h)" + which)
      ->option_text("DURATION")
      ->configurable(false)
      ->check(check_limit<read_time>);
}

LimitChange limits_of(const LimitTexts& texts) {
  return {limit_of(texts.up, read_rate), limit_of(texts.down, read_rate),
          limit_of(texts.seed_ratio, read_ratio), limit_of(texts.seed_time, read_time)};
}

void add_limit_params(const LimitTexts& texts, Json& params) {
  const LimitChange limits = limits_of(texts);
  add_param(limits.up, 1, "up", params);
  add_param(limits.down, 1, "down", params);
  add_param(limits.seed_ratio, 1000, "seed_ratio", params);
  add_param(limits.seed_seconds, 1, "seed_time", params);
}

}  // namespace firn::app
