#include "proto/transport/io_loop.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "proto/base/start_thread.h"
#include "proto/base/thread_times.h"
#include "proto/transport/descriptors.h"

namespace firn::proto::transport {

namespace {

constexpr std::uint64_t kTogetherMs = 4;
// Orders for which memory is kept: some 30 KiB.
constexpr std::size_t kOrdersKept = 256;

// How long this thread has run, where that is due.
void tell(LoopLoad& load, std::uint64_t now_us) {
  if (!load.due(now_us)) return;
  timespec ran{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
  load.ran(static_cast<std::uint64_t>(ran.tv_sec) * 1'000'000 +
               static_cast<std::uint64_t>(ran.tv_nsec) / 1000,
           now_us);
}

}  // namespace

bool Shared::overloaded() const {
  const auto bound_us = static_cast<std::uint64_t>(options.overload_lag.count());
  return bound_us > 0 && half_are_behind(lags, bound_us);
}

IoLoop::IoLoop(Shared& shared, std::size_t number)
    : shared_(shared),
      number_(number),
      mailbox_(shared.options.send_queue_bytes_max),
      pace_(static_cast<std::uint64_t>(shared.options.turn_interval.count()) * 1000) {}

IoLoop::~IoLoop() {
  if (!initialised_) return;
  if (!thread_.joinable()) {
    begin_stop();
    uv_run(&loop_, UV_RUN_DEFAULT);  // lets libuv close what a thread would have closed
  }
  join();
  FIRN_CHECK(uv_loop_close(&loop_) == 0);
}

Status IoLoop::start() {
  const Error failure{ErrorCode::kInternal, "start I/O thread", "libuv refused"};
  if (uv_loop_init(&loop_) != 0) return failure;
  initialised_ = true;
  if (shared_.options.overload_lag.count() > 0 &&
      uv_loop_configure(&loop_, UV_METRICS_IDLE_TIME) != 0)
    return failure;
  idle_ = make_uv_handle<uv_idle_t>(
      this, [this](uv_idle_t* handle) { return uv_idle_init(&loop_, handle); });
  before_waiting_ = make_uv_handle<uv_prepare_t>(
      this, [this](uv_prepare_t* handle) { return uv_prepare_init(&loop_, handle); });
  if (!idle_ || !before_waiting_ || !wake_.start(&loop_, [this] { on_wake(); })) return failure;
  if (const auto tick_ms = static_cast<std::uint64_t>(shared_.options.tick.count()); tick_ms > 0) {
    ticks_ = std::make_unique<Timer>(&loop_, [this, tick_ms] {
      ticks_->start(tick_ms);
      shared_.sink.on_tick(number_);
    });
    ticks_->start(tick_ms);
  }
  mailbox_.open(&wake_);
  auto thread = start_thread("the network", [this] { run(); });
  if (!thread) return thread.error();
  thread_ = *std::move(thread);
  return Done{};
}

void IoLoop::run() {
  const StageClock::Attach counted(shared_.options.stages, Stage::kIoTurns);
  name_this_thread("firn-io");
  // Writing to a peer that has gone must be an error, not a signal.
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
  // libuv runs timers and what is ready before it waits for sockets: their events come first.
  uv_prepare_start(before_waiting_.get(), [](uv_prepare_t* handle) {
    auto* loop = static_cast<IoLoop*>(handle->data);
    if (loop == nullptr) return;
    if (loop->shared_.options.overload_lag.count() > 0)
      loop->meter_.turn_over(loop->uv(), loop->shared_.lags[loop->number_]);
    if (loop->may_wait_) loop->shared_.sink.on_turn_over();
    enter_stage(Stage::kWaits);  // what libuv calls from there has stages of its own
  });
  for (bool running = true; running;) {  // until begin_stop() has closed everything
    if (rest()) {
      // All that the rest left to do goes into one turn. If that is nothing, there is no hurry.
      on_wake();
      running = take_turn(false) && (acted_ || take_turn(true));
    } else {
      running = take_turn(true);
    }
    shared_.sink.on_turn_over();
    if (shared_.loads.size() > 1) tell(shared_.loads[number_], uv_now(&loop_) * 1000);
  }
}

bool IoLoop::take_turn(bool may_wait) {
  may_wait_ = may_wait;
  const bool goes_on = uv_run(&loop_, may_wait ? UV_RUN_ONCE : UV_RUN_NOWAIT) != 0;
  return_to_stage(Stage::kIoTurns);
  return goes_on;
}

bool IoLoop::rest() {
  if (!ready_.empty())
    return false;  // and do not ask: an answer that is not heeded lengthens the next
  const std::uint64_t now_us = uv_hrtime() / 1000;
  const std::uint64_t rest_us = pace_.rest_us(now_us);
  if (rest_us == 0) return false;
  wake_.hold();
  {
    const StageScope stage(Stage::kWaits);
    stopping_.wait_until(now_us + rest_us);
  }
  wake_.release();
  uv_update_time(&loop_);
  acted_ = false;
  return wake_.started();
}

void IoLoop::ask_to_stop() {
  mailbox_.post(StopOrder{});
  stopping_.give();
}

void IoLoop::join() {
  if (thread_.joinable()) thread_.join();
}

Connection* IoLoop::find(ConnectionId id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second.get();
}

std::uint64_t IoLoop::together_ms(std::uint64_t delay_ms) const {
  if (delay_ms < kTogetherMs) return delay_ms;
  const std::uint64_t now = uv_now(&loop_);
  const std::uint64_t due = now + delay_ms;
  return (due + kTogetherMs - 1) / kTogetherMs * kTogetherMs - now;
}

void IoLoop::run_soon(ConnectionId id) {
  ready_.push_back(id);
  if (ready_.size() == 1) {
    uv_idle_start(idle_.get(), [](uv_idle_t* handle) {
      if (handle->data != nullptr) static_cast<IoLoop*>(handle->data)->on_idle();
    });
  }
}

void IoLoop::retire(ConnectionId id) {
  auto node = connections_.extract(id);
  FIRN_CHECK(!node.empty());
  retired_.push_back(std::move(node.mapped()));
  shared_.connection_count.fetch_sub(1);
  shared_.load_of(id).closed();
  if (ready_.empty()) run_soon(id);  // no connection answers to it; on_idle() frees the object
}

void IoLoop::on_idle() {
  retired_.clear();
  run_ready();
}

void IoLoop::run_ready() {
  std::vector<ConnectionId> ready;
  const StageScope stage(Stage::kSockets);
  ready.swap(ready_);
  if (retired_.empty()) uv_idle_stop(idle_.get());  // else on_idle() has still to free them
  for (const ConnectionId id : ready) {
    if (Connection* connection = find(id)) connection->take_turn();
  }
}

void IoLoop::on_wake() {
  obey_orders();
  if (!wake_.started()) return;
  shared_.sink.on_woken(number_);
  run_ready();
}

void IoLoop::obey_orders() {
  const StageScope stage(Stage::kOrders);
  mailbox_.take(orders_);
  if (!orders_.empty()) note_action();
  for (Order& order : orders_) {
    if (!wake_.started()) break;  // stopped
    std::visit([this](auto& one) { obey(one); }, order);
  }
  // What came with them is freed now; a burst's memory too.
  orders_.clear();
  if (orders_.capacity() > kOrdersKept) std::vector<Order>().swap(orders_);
}

void IoLoop::obey(ConnectOrder& order) {
  const std::size_t most = connections_in_all_within(descriptor_limit());
  const bool full = shared_.connection_count.fetch_add(1) >= most;
  auto connection = std::make_unique<Connection>(*this, order.id);
  Connection& started = *connection;
  connections_.emplace(order.id, std::move(connection));
  started.connect(order.where, full);
}

void IoLoop::obey(AdoptOrder& order) {
  auto connection = std::make_unique<Connection>(*this, order.id);
  Connection& started = *connection;
  connections_.emplace(order.id, std::move(connection));
  started.adopt(std::move(order.socket), order.remote, std::move(order.place));
}

void IoLoop::obey(ListenOrder& order) {
  listeners_.push_back(std::make_unique<Listener>(*this, std::move(order.socket)));
}

void IoLoop::obey(SendOrder& order) {
  Connection* const connection = find(order.id);
  if (!connection) return;
  if (auto* frame = std::get_if<OutgoingFrame>(&order.what))
    return connection->send(std::move(*frame), order.tag);
  const auto& blocks = std::get<std::vector<Block>>(order.what);
  const auto frame_of = [](const Block& block) {
    const StageScope stage(Stage::kMessages);
    return serialize(block);
  };
  for (const Block& block : blocks)
    connection->send(frame_of(block), &block == &blocks.back() ? order.tag : kUntagged);
}

void IoLoop::obey(OverflowOrder& order) {
  if (Connection* connection = find(order.id)) connection->overflow();
}

void IoLoop::obey(CloseOrder& order) {
  if (Connection* connection = find(order.id)) connection->close();
}

void IoLoop::obey(PauseOrder& order) {
  if (Connection* connection = find(order.id)) connection->pause_reading(order.paused);
}

void IoLoop::obey(GiveWayOrder& order) {
  if (Connection* connection = find(order.id)) connection->give_way();
}

void IoLoop::obey(StopOrder&) {
  begin_stop();
}

void IoLoop::begin_stop() {
  mailbox_.close();
  connections_.clear();
  retired_.clear();
  listeners_.clear();
  ticks_.reset();
  ready_.clear();
  idle_.reset();
  before_waiting_.reset();
  wake_.stop();
}

}  // namespace firn::proto::transport
