#include "client/app/console/progress_display.h"

#include <algorithm>
#include <string_view>

#include "client/app/console/columns.h"

namespace firn::app {
namespace {

constexpr core::TimeUs kLineInterval = 30 * core::kSecond;

}  // namespace

ProgressDisplay::Kind ProgressDisplay::kind_for(bool terminal, const char* term,
                                                const char* no_color) {
  if (!terminal || (term != nullptr && std::string_view(term) == "dumb")) return Kind::kLines;
  return no_color != nullptr && *no_color != '\0' ? Kind::kPlainBar : Kind::kBar;
}

std::string ProgressDisplay::show(const std::string& line, core::TimeUs now) {
  if (in_place()) return line == last_ ? std::string() : draw(line);
  if (kind_ == Kind::kNone) return {};
  if (due_ == core::kNever) due_ = now + kLineInterval;
  if (now < due_) return {};
  due_ = now + kLineInterval;
  if (line == last_) return {};
  last_ = line;
  return line + "\n";
}

std::string ProgressDisplay::clear() {
  return in_place() && !last_.empty() ? draw("") : std::string();
}

std::string ProgressDisplay::say(const std::string& line) {
  const std::string bar = in_place() ? last_ : std::string();
  std::string text = clear() + line + "\n";
  if (!bar.empty()) text += draw(bar);
  return text;
}

// Terminals that became narrower have wrapped the lines: all of their rows go.
std::string ProgressDisplay::erased() const {
  const std::size_t columns = columns_ ? columns_() : 0;
  std::size_t rows_above = 0;
  std::string_view rest = last_;
  while (true) {
    const std::size_t end = rest.find('\n');
    const std::size_t drawn = columns_of(rest.substr(0, end));
    if (columns > 0 && drawn > columns) rows_above += (drawn - 1) / columns;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
    ++rows_above;
  }
  if (rows_above == 0) return "\r\x1b[K";
  return "\r\x1b[" + std::to_string(rows_above) + "A\x1b[J";
}

std::string ProgressDisplay::draw(const std::string& line) {
  std::string text;
  if (kind_ == Kind::kBar) {
    text = erased() + line;
  } else {
    const std::size_t before = columns_of(last_), after = columns_of(line);
    text = "\r";
    text += line + std::string(before - std::min(before, after), ' ');
    if (line.empty()) text += '\r';
  }
  last_ = line;
  return text;
}

}  // namespace firn::app
