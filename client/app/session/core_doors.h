// The doors of a session's swarm core: inputs go in together with the time, and each wakes the
// session's next turn, in which the actions come out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "client/app/runtime/event_loop.h"
#include "client/core/swarm.h"
#include "proto/base/stage_times.h"

namespace firn::app {

// Main thread.
class CoreDoors {
 public:
  // `wants_turn` is called whenever there may be actions to take.
  CoreDoors(const EventLoop& loop, const std::function<void()>& wants_turn)
      : loop_(loop), wants_turn_(wants_turn) {}

  // Of this content, from now on, in bytes per second, whatever `options` of make() say; 0: none.
  void set_limits(std::uint64_t up, std::uint64_t down);

  // Makes the core; until then there is none, and nothing below may be called but changed().
  void make(const ContentId& content, const core::Options& options);
  bool made() const { return core_ != nullptr; }
  // For questions: report(), peers(), standstill(), ...
  const core::SwarmCore& facts() const { return *core_; }

  // An input: a member of SwarmCore that takes `inputs` and then the time.
  template <typename Door, typename... Inputs>
  void feed(Door door, Inputs&&... inputs) {
    if (broken_) return;
    try {
      const StageScope stage(Stage::kCore);
      std::invoke(door, *core_, std::forward<Inputs>(inputs)..., loop_.now());
    } catch (const std::bad_alloc&) {
      broken_ = true;
    }
    changed();
  }
  // It found no memory in the middle of an input: it takes no more, and its session is to end.
  bool broken() const { return broken_; }
  void break_off() { broken_ = true; }
  // The session is to have a turn.
  void changed();

  // Lets time pass, if the core has asked to be woken by now.
  void wake(core::TimeUs now);
  // Whether there may be actions to take.
  bool fed() const { return fed_; }
  std::vector<core::Action> take_actions();

 private:
  const EventLoop& loop_;
  const std::function<void()>& wants_turn_;
  std::unique_ptr<core::SwarmCore> core_;
  std::optional<std::uint64_t> up_limit_, down_limit_;
  bool fed_ = true;
  bool broken_ = false;
};

}  // namespace firn::app
