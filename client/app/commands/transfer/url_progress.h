// Shows how a file comes from a web server: as the download of a content is shown.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "client/app/commands/transfer/url_source.h"
#include "client/app/console/console.h"
#include "client/app/session/counter_rate.h"

namespace firn::app {

// One thread at a time.
class UrlProgress {
 public:
  // `events`: with --json also as events `start`, `progress` and `complete`.
  UrlProgress(const UrlSource& source, bool events, Console& console)
      : source_(source), events_(events), console_(console) {}

  // Bytes behind `there`, which an earlier run left, come from now on.
  void begin(std::optional<std::uint64_t> bytes, std::uint64_t there);
  void came(std::uint64_t bytes);
  // Nothing comes, or something came: shows what is due.
  void tick();
  // All is there. `where`: in words.
  void complete(const std::string& where);

 private:
  using Clock = std::chrono::steady_clock;

  double seconds() const;
  void show();

  const UrlSource& source_;
  const bool events_;
  Console& console_;
  std::optional<std::uint64_t> bytes_;
  std::uint64_t done_ = 0;      // of them
  std::uint64_t received_ = 0;  // in this run
  std::optional<Clock::time_point> began_;
  Clock::time_point shown_, told_;
  CounterRate rate_;
};

}  // namespace firn::app
