// Many links on one thread: an epoll loop, and a line of what is due when.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "tests/load/link.h"

namespace firn::load {

// Microseconds of a clock that never goes back.
TimeUs clock_us();

// What becomes of a link.
struct Fate {
  std::unique_ptr<Link> link;
  std::string source_ip;
  TimeUs connects_at = 0;
  bool opened = false;
  std::string error;  // why it ended early; empty: it did not
};

class Crowd {
 public:
  Crowd(const Target& target, std::vector<Fate> fates);
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // `what` is called then, on the thread that runs.
  void at(TimeUs when, std::function<void()> what);
  // Until that time.
  void run(TimeUs until);

  const std::vector<Fate>& fates() const { return fates_; }

 private:
  using Due = std::pair<TimeUs, std::size_t>;  // link

  void wait(TimeUs until);
  void wake(std::size_t index, TimeUs now);
  void end(std::size_t index, const std::string& why);
  void watch(std::size_t index, TimeUs now);

  struct Watched {
    std::uint32_t events = 0;  // of epoll, waited for
    TimeUs due = 0;            // in line for; 0: for none
  };
  const Target target_;
  std::vector<Fate> fates_;
  std::vector<Watched> watched_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> line_;
  std::vector<std::pair<TimeUs, std::function<void()>>> calls_;
  const int epoll_;
};

}  // namespace firn::load
