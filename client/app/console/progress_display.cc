#include "client/app/console/progress_display.h"

#include <algorithm>
#include <string_view>

#include "client/app/console/progress_bar.h"

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

std::string ProgressDisplay::draw(const std::string& line) {
  std::string text = "\r";
  if (kind_ == Kind::kBar) {
    text += "\x1b[K" + line;  // erases to the end of the line
  } else {
    const std::size_t before = columns_of(last_), after = columns_of(line);
    text += line + std::string(before - std::min(before, after), ' ');
    if (line.empty()) text += '\r';
  }
  last_ = line;
  return text;
}

}  // namespace firn::app
