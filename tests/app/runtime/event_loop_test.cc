// The main thread's loop.
#include "client/app/runtime/event_loop.h"

#include <doctest/doctest.h>

#include "proto/base/stage_times.h"

namespace firn::app {
namespace {

TEST_CASE("a loop is in the stage of waiting until it calls, and comes back to where it was run") {
  StageClock clock;
  const StageClock::Attach counted(&clock, Stage::kMainTurns);
  EventLoop loop;
  Stage woken_in = Stage::kNone;
  loop.on_turn([&] {
    woken_in = current_stage();
    loop.stop();
  });
  loop.wake();
  loop.run();
  CHECK(woken_in == Stage::kWaits);
  CHECK(current_stage() == Stage::kMainTurns);
  CHECK(clock.counts()[static_cast<std::size_t>(Stage::kWaits)] > 0);
}

}  // namespace
}  // namespace firn::app
