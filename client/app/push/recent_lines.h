// The last lines of what a program says on standard error, whatever it says and however long.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace firn::app {

class RecentLines {
 public:
  static constexpr std::size_t kLinesMax = 20;
  static constexpr std::size_t kLineBytesMax = 500;  // what is longer is cut

  void feed(std::string_view bytes) {
    for (const char c : bytes) {
      if (c == '\n' || c == '\r') {
        end_line();
      } else if (line_.size() < kLineBytesMax) {
        line_ += c;
      }
    }
  }
  // The oldest first; none is empty. The unfinished one counts too.
  std::vector<std::string> lines() const {
    std::vector<std::string> all(lines_.begin(), lines_.end());
    if (!line_.empty()) all.push_back(line_);
    return all;
  }
  // Empty: there is none.
  std::string last() const {
    return !line_.empty() ? line_ : lines_.empty() ? std::string() : lines_.back();
  }

 private:
  void end_line() {
    if (line_.empty()) return;
    lines_.push_back(std::move(line_));
    line_.clear();
    if (lines_.size() > kLinesMax) lines_.pop_front();
  }

  std::deque<std::string> lines_;
  std::string line_;
};

}  // namespace firn::app
