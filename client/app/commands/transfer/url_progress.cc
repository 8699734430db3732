#include "client/app/commands/transfer/url_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/app/console/quantities.h"

namespace firn::app {
namespace {

using namespace std::chrono_literals;

constexpr auto kShownEvery = 100ms;
constexpr auto kToldEvery = 1s;

Json number_or_null(const std::optional<std::uint64_t>& number) {
  return number ? Json(*number) : Json();
}

}  // namespace

double UrlProgress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - *began_).count();
}

void UrlProgress::begin(std::optional<std::uint64_t> bytes, std::uint64_t there) {
  bytes_ = bytes;
  done_ = there;
  const bool first = !began_;
  if (first) began_ = shown_ = told_ = Clock::now();
  if (!first || !events_) return;
  console_.event({{"event", "start"},
                  {"url", source_.url.shown()},
                  {"name", source_.name},
                  {"bytes", number_or_null(bytes)},
                  {"bytes_there", there}});
}

void UrlProgress::came(std::uint64_t bytes) {
  done_ += bytes;
  received_ += bytes;
  tick();
}

void UrlProgress::tick() {
  if (began_ && Clock::now() - shown_ >= kShownEvery) show();
}

void UrlProgress::show() {
  const auto now = Clock::now();
  shown_ = now;
  const auto now_us =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  rate_.sample(received_, now_us);
  ProgressFigures figures;
  figures.name = source_.name;
  figures.host = source_.url.host();
  figures.rank = done_;
  figures.rank_total = figures.bytes_wanted = bytes_.value_or(0);
  figures.down_rate = rate_.per_second();
  if (bytes_ && figures.down_rate > 0)
    figures.seconds_left = static_cast<double>(*bytes_ - done_) / figures.down_rate;
  console_.progress(figures);
  if (!events_ || now - told_ < kToldEvery) return;
  told_ = now;
  const auto share = share_of(figures);
  const bool timed = bytes_ && figures.down_rate > 0;
  console_.event({{"event", "progress"},
                  {"url", source_.url.shown()},
                  {"seconds", seconds()},
                  {"share", share ? Json(*share) : Json()},
                  {"eta_seconds", timed ? Json(figures.seconds_left) : Json()},
                  {"down_rate", figures.down_rate},
                  {"bytes_received", received_}});
}

void UrlProgress::complete(const std::string& where) {
  console_.clear_progress();
  const double took = std::max(0.1, seconds());
  const std::string rate = format_rate(static_cast<double>(received_) / took);
  console_.info(fmt::format("{}: {} came from {} in {}, {} on average; it is {}", source_.name,
                            format_bytes(received_), source_.url.shown(),
                            took < 60 ? fmt::format("{:.1f}s", took) : format_seconds(took), rate,
                            where));
  console_.info("not verified: an ordinary web server has no digests");
  if (!events_) return;
  console_.event({{"event", "complete"},
                  {"url", source_.url.shown()},
                  {"name", source_.name},
                  {"seconds", seconds()},
                  {"bytes", done_},
                  {"bytes_received", received_},
                  {"verified", false}});
}

}  // namespace firn::app
