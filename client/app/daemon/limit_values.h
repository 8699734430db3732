// Limits as a person sets them: of a content, or of the daemon for all of its contents.
#pragma once

#include <cstdint>
#include <optional>

namespace firn::app {

// Each value is kUnset (as is said elsewhere: for a content by the daemon, for the daemon by its
// configuration), kNone (there is no limit), or a limit.
struct LimitValues {
  static constexpr std::int64_t kUnset = -1;
  static constexpr std::int64_t kNone = 0;

  std::int64_t up = kUnset;  // bytes per second
  std::int64_t down = kUnset;
  std::int64_t seed_ratio = kUnset;    // thousandths: 1000 is as much sent as the content has
  std::int64_t seed_seconds = kUnset;  // of seeding

  // What is unset is as `others` say.
  LimitValues or_else(const LimitValues& others) const {
    const auto first = [](std::int64_t one, std::int64_t other) {
      return one == kUnset ? other : one;
    };
    return {first(up, others.up), first(down, others.down), first(seed_ratio, others.seed_ratio),
            first(seed_seconds, others.seed_seconds)};
  }
  bool operator==(const LimitValues&) const = default;
};

// What a person asks to be changed; the rest stays.
struct LimitChange {
  std::optional<std::int64_t> up = {};
  std::optional<std::int64_t> down = {};
  std::optional<std::int64_t> seed_ratio = {};
  std::optional<std::int64_t> seed_seconds = {};

  bool empty() const { return !up && !down && !seed_ratio && !seed_seconds; }
  LimitValues applied_to(const LimitValues& values) const {
    return {up.value_or(values.up), down.value_or(values.down),
            seed_ratio.value_or(values.seed_ratio), seed_seconds.value_or(values.seed_seconds)};
  }
};

}  // namespace firn::app
