#include "client/app/daemon/bandwidth_schedule.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "client/app/console/quantities.h"

namespace firn::app {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr int kDayMinutes = 24 * 60;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  if (text.ends_with(separator)) parts.emplace_back();
  return parts;
}

std::optional<std::size_t> day_of(std::string_view name) {
  const auto* const found = std::ranges::find(kDays, name);
  if (found == kDays.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kDays.begin());
}

bool read_days(const std::string& text, std::array<bool, 7>& days) {
  if (text == "daily") {
    days.fill(true);
    return true;
  }
  const auto spans = split(text, ',');
  for (const std::string& span : spans) {
    const auto ends = split(span, '-');
    if (ends.empty() || ends.size() > 2) return false;
    const auto first = day_of(ends.front()), last = day_of(ends.back());
    if (!first || !last) return false;
    for (std::size_t day = *first;; day = (day + 1) % 7) {
      days[day] = true;
      if (day == *last) break;
    }
  }
  return !spans.empty();
}

// Minutes since midnight.
std::optional<int> minutes_of(const std::string& text) {
  const auto digit = [&](std::size_t at) { return text[at] - '0'; };
  const auto is_digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '9'; };
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  for (const std::size_t at : {0u, 1u, 3u, 4u})
    if (!is_digit(at)) return std::nullopt;
  const int hours = 10 * digit(0) + digit(1), minutes = 10 * digit(3) + digit(4);
  if (minutes > 59 || 60 * hours + minutes > kDayMinutes) return std::nullopt;
  return 60 * hours + minutes;
}

Status read_rate_of(const std::string& word, ScheduleRule& rule) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  if (equals == std::string::npos || (name != "up" && name != "down"))
    return Error{ErrorCode::kBadInput, "'" + word + "'", "expected up=RATE or down=RATE"};
  const std::string value = word.substr(equals + 1);
  std::int64_t rate = 0;
  if (value != "none") {
    const auto read = parse_rate(value);
    if (!read.ok()) return read.error();
    rate = static_cast<std::int64_t>(std::min<std::uint64_t>(*read, INT64_MAX));
  }
  (name == "up" ? rule.up : rule.down) = rate;
  return Done{};
}

}  // namespace

bool ScheduleRule::holds(const std::tm& local) const {
  const int minute = 60 * local.tm_hour + local.tm_min;
  const bool today = days[static_cast<std::size_t>(local.tm_wday)];
  if (from < to) return today && from <= minute && minute < to;
  const bool yesterday = days[static_cast<std::size_t>(local.tm_wday + 6) % 7];
  return (today && minute >= from) || (yesterday && minute < to);
}

Result<ScheduleRule> parse_schedule_rule(const std::string& text) {
  const auto bad = [&text](const std::string& why) {
    return Error{ErrorCode::kBadInput, "schedule '" + text + "'",
                 why + "; write it as in \"mon-fri 08:00-18:00 up=1M down=2M\""};
  };
  ScheduleRule rule;
  rule.text = text;
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.size() < 3) return bad("it needs days, a time and a rate");
  if (!read_days(words[0], rule.days))
    return bad("'" + words[0] + "' is neither daily nor days such as mon-fri or sat,sun");
  const auto times = split(words[1], '-');
  const auto from = times.size() == 2 ? minutes_of(times[0]) : std::nullopt;
  const auto to = times.size() == 2 ? minutes_of(times[1]) : std::nullopt;
  if (!from || !to || *from == *to || *from == kDayMinutes)
    return bad("'" + words[1] + "' is no time such as 08:00-18:00");
  rule.from = *from;
  rule.to = *to;
  for (std::size_t i = 2; i < words.size(); ++i)
    if (const Status read = read_rate_of(words[i], rule); !read.ok())
      return bad(read.error().message());
  return rule;
}

const ScheduleRule* BandwidthSchedule::at(std::time_t time) const {
  std::tm local{};
  if (rules_.empty() || ::localtime_r(&time, &local) == nullptr) return nullptr;
  const auto found =
      std::ranges::find_if(rules_, [&](const ScheduleRule& rule) { return rule.holds(local); });
  return found == rules_.end() ? nullptr : &*found;
}

}  // namespace firn::app
