#include "client/app/daemon/limit_texts.h"

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
  const auto rate = parse_rate(text);
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

// Leaves `limit` alone where nothing was given.
Status take(const std::string& text, ReadLimit read, Limit& limit) {
  if (text.empty()) return Done{};
  const auto value = read(text);
  if (!value.ok()) return value.error();
  limit = *value;
  return Done{};
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

Result<std::int64_t> read_rate_limit(const std::string& text) {
  return read_limit(text, read_rate);
}

Result<std::int64_t> read_ratio_limit(const std::string& text) {
  return read_limit(text, read_ratio);
}

Result<std::int64_t> read_time_limit(const std::string& text) {
  return read_limit(text, read_time);
}

Result<LimitChange> limits_of(const LimitTexts& texts) {
  LimitChange limits;
  for (const Status& taken :
       {take(texts.up, read_rate_limit, limits.up), take(texts.down, read_rate_limit, limits.down),
        take(texts.seed_ratio, read_ratio_limit, limits.seed_ratio),
        take(texts.seed_time, read_time_limit, limits.seed_seconds)}) {
    if (!taken.ok()) return taken.error();
  }
  return limits;
}

void add_limit_params(const LimitChange& limits, Json& params) {
  add_param(limits.up, 1, "up", params);
  add_param(limits.down, 1, "down", params);
  add_param(limits.seed_ratio, 1000, "seed_ratio", params);
  add_param(limits.seed_seconds, 1, "seed_time", params);
}

}  // namespace firn::app
