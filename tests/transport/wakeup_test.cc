#include <doctest/doctest.h>
#include <uv.h>

#include <atomic>
#include <thread>
#include <vector>

#include "proto/transport/wakeup.h"

namespace firn::proto::transport {
namespace {

struct Loop {
  Loop() { REQUIRE(uv_loop_init(&uv) == 0); }
  ~Loop() {
    uv_run(&uv, UV_RUN_DEFAULT);  // what is being closed
    CHECK(uv_loop_close(&uv) == 0);
  }
  uv_loop_t uv;
};

TEST_CASE("signals that come before the loop does wake it once") {
  Loop loop;
  Wakeup wakeup;
  int woken = 0;
  REQUIRE(wakeup.start(&loop.uv, [&] { ++woken; }));
  CHECK(wakeup.started());
  for (int i = 0; i < 3; ++i) wakeup.signal();
  uv_run(&loop.uv, UV_RUN_ONCE);
  CHECK(woken == 1);
  uv_run(&loop.uv, UV_RUN_NOWAIT);
  CHECK(woken == 1);
  wakeup.signal();
  uv_run(&loop.uv, UV_RUN_ONCE);
  CHECK(woken == 2);
  wakeup.stop();
}

TEST_CASE("a signal from within the call brings another one") {
  Loop loop;
  Wakeup wakeup;
  int woken = 0;
  REQUIRE(wakeup.start(&loop.uv, [&] {
    if (++woken < 3) {
      wakeup.signal();
    } else {
      wakeup.stop();
    }
  }));
  wakeup.signal();
  uv_run(&loop.uv, UV_RUN_DEFAULT);
  CHECK(woken == 3);
  CHECK_FALSE(wakeup.started());
}

TEST_CASE("what is signalled while signals are held does not wake the loop, later signals do") {
  Loop loop;
  Wakeup wakeup;
  int woken = 0;
  REQUIRE(wakeup.start(&loop.uv, [&] { ++woken; }));
  wakeup.hold();
  wakeup.signal();
  wakeup.release();
  uv_run(&loop.uv, UV_RUN_NOWAIT);
  CHECK(woken == 0);
  wakeup.signal();
  uv_run(&loop.uv, UV_RUN_NOWAIT);
  CHECK(woken == 1);

  wakeup.signal();  // on its way when the loop begins to wait elsewhere
  wakeup.hold();
  wakeup.release();
  wakeup.signal();
  uv_run(&loop.uv, UV_RUN_NOWAIT);
  CHECK(woken == 2);
  wakeup.stop();
}

TEST_CASE("after a stop nothing comes, and signals do no harm") {
  Loop loop;
  Wakeup wakeup;
  int woken = 0;
  REQUIRE(wakeup.start(&loop.uv, [&] { ++woken; }));
  wakeup.signal();
  wakeup.stop();
  wakeup.signal();
  uv_run(&loop.uv, UV_RUN_DEFAULT);
  CHECK(woken == 0);
}

TEST_CASE("what was done before a signal is seen, from any thread and at any time") {
  constexpr int kThreads = 3, kSignals = 20'000;
  Loop loop;
  Wakeup wakeup;
  std::atomic<int> done = 0;
  int seen = 0;
  REQUIRE(wakeup.start(&loop.uv, [&] {
    seen = done.load(std::memory_order_relaxed);
    if (seen == kThreads * kSignals) wakeup.stop();
  }));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kSignals; ++i) {
        done.fetch_add(1, std::memory_order_relaxed);
        wakeup.signal();
      }
    });
  }
  uv_run(&loop.uv, UV_RUN_DEFAULT);  // a signal that is lost would leave it waiting for ever
  for (std::thread& thread : threads) thread.join();
  CHECK(seen == kThreads * kSignals);
}

}  // namespace
}  // namespace firn::proto::transport
