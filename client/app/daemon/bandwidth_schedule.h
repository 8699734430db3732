// Limits that hold at some times of the week: "mon-fri 08:00-18:00 up=1M down=2M".
//
// Times are those on the wall, of the time zone of the process. A time that ends before it begins
// goes on after midnight, and belongs to the day on which it begins. Where clocks are put back, an
// hour that comes twice counts twice; one that is left out does not come.
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "proto/base/result.h"

namespace firn::app {

struct ScheduleRule {
  std::string text;                     // as it was given
  std::array<bool, 7> days{};           // on which it begins; from Sunday on, as in std::tm
  int from = 0;                         // minutes since midnight
  int to = 0;                           // up to 24 h; not above `from`: on the next day
  std::optional<std::int64_t> up = {};  // bytes per second, 0: none; nullopt: as at other times
  std::optional<std::int64_t> down = {};

  bool holds(const std::tm& local) const;
};

// DAYS HH:MM-HH:MM [up=RATE] [down=RATE]; DAYS are daily, or days and spans of them: mon-fri,sun.
// RATE as parse_rate() reads it, or none. Errors: kBadInput.
Result<ScheduleRule> parse_schedule_rule(const std::string& text);

class BandwidthSchedule {
 public:
  BandwidthSchedule() = default;
  explicit BandwidthSchedule(std::vector<ScheduleRule> rules) : rules_(std::move(rules)) {}

  const std::vector<ScheduleRule>& rules() const { return rules_; }
  // The first that holds; null: none does.
  const ScheduleRule* at(std::time_t time) const;

 private:
  std::vector<ScheduleRule> rules_;
};

}  // namespace firn::app
