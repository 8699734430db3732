// Many parties on one thread: an epoll loop, connections begun at a rate, and, where announces come
// at a rate, the parties that send them in turn.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "tests/tracker_load/party.h"

namespace firn::tracker_load {

TimeUs clock_us();

struct CrowdOptions {
  double connects_a_second = 2000;
  std::size_t connecting_max = 256;  // at a time
  double announces_a_second = 0;     // 0: each follows a reply
};

// When the thread has all its connections, and when it measures and ends; of all threads together.
struct Phases {
  std::atomic<std::size_t> ready{0};  // threads
  std::atomic<bool> measuring{false};
  std::atomic<bool> over{false};
};

class Crowd {
 public:
  Crowd(const CrowdOptions& options, std::vector<std::unique_ptr<Party>> parties, Tally& tally,
        Phases& phases);
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // Until `phases` says that it is over.
  void run();

 private:
  void begin_some(TimeUs now);
  void look_some(TimeUs now);
  void ask_some(TimeUs now);
  void go_on(std::size_t index, TimeUs now);
  void end(std::size_t index, const Error& error);
  void watch(std::size_t index);
  void settle(std::size_t index);

  const CrowdOptions options_;
  std::vector<std::unique_ptr<Party>> parties_;
  struct State {
    std::uint32_t watched = 0;  // events; 0: not in epoll
    bool settled = false;       // it was open once, or answered, or has ended
    bool ended = false;
  };
  std::vector<State> states_;
  Tally& tally_;
  Phases& phases_;
  const int epoll_;
  std::vector<std::size_t> again_;  // to be begun
  std::size_t begun_ = 0, connecting_ = 0;
  std::size_t turn_ = 0;
  TimeUs began_ = 0, looked_ = 0, asking_since_ = 0;
  std::uint64_t asked_ = 0;
  bool told_ready_ = false;
};

}  // namespace firn::tracker_load
