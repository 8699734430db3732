// How progress reaches people: as one line, or several, redrawn in place on a terminal, as a plain
// line now and then elsewhere. Decides what is to be written; the console writes it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "client/core/base/types.h"

namespace firn::app {

class ProgressDisplay {
 public:
  enum class Kind {
    kBar,       // redrawn in place
    kPlainBar,  // the same without escape sequences
    kLines,     // a line every 30 s, if it says something new
    kNone,
  };
  // NO_COLOR asks for no escape sequences; TERM=dumb, and what is no terminal, for lines.
  static Kind kind_for(bool terminal, const char* term, const char* no_color);

  // `columns`: those of the terminal, asked for whenever something is drawn; null: without end.
  explicit ProgressDisplay(Kind kind, std::function<std::size_t()> columns = {})
      : kind_(kind), columns_(std::move(columns)) {}

  bool in_place() const { return kind_ == Kind::kBar || kind_ == Kind::kPlainBar; }
  bool shown() const { return kind_ != Kind::kNone; }
  // Whether show() takes several lines, with '\n' between them.
  bool redraws_lines() const { return kind_ == Kind::kBar; }

  // Each returns what is to be written. The first of all calls to show() starts the clock of
  // kLines.
  std::string show(const std::string& line, core::TimeUs now);
  std::string clear();
  // `line` above what is shown.
  std::string say(const std::string& line);

 private:
  std::string draw(const std::string& line);
  std::string erased() const;

  const Kind kind_;
  const std::function<std::size_t()> columns_;
  std::string last_;  // as drawn, or as written last
  core::TimeUs due_ = core::kNever;
};

}  // namespace firn::app
