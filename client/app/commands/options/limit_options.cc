#include "client/app/commands/options/limit_options.h"

namespace firn::app {
namespace {

using ReadLimit = Result<std::int64_t> (*)(const std::string& text);

template <ReadLimit kRead>
std::string check_limit(const std::string& text) {
  const auto limit = kRead(text);
  return limit.ok() ? "" : limit.error().message();
}

}  // namespace

void add_rate_options(CLI::App& app, LimitTexts& texts) {
  app.add_option("--up", texts.up,
                 "bytes per second sent at most (1M or 10Mbit), 0 or none for no limit, or default")
      ->option_text("RATE")
      ->configurable(false)
      ->check(check_limit<read_rate_limit>);
  app.add_option("--down", texts.down,
                 "bytes per second received at most, 0 or none for no limit, or default")
      ->option_text("RATE")
      ->configurable(false)
      ->check(check_limit<read_rate_limit>);
}

void add_goal_options(CLI::App& app, LimitTexts& texts, const std::string& which) {
  app.add_option("--seed-ratio", texts.seed_ratio,
                 "stop seeding once this many times the content's bytes were sent (1.5)" + which)
      ->option_text("RATIO")
      ->configurable(false)
      ->check(check_limit<read_ratio_limit>);
  app.add_option("--seed-time", texts.seed_time,
                 "stop seeding after this time of it, all runs together (12h)" + which)
      ->option_text("DURATION")
      ->configurable(false)
      ->check(check_limit<read_time_limit>);
}

}  // namespace firn::app
