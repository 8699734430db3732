// One I/O thread: a libuv loop with the connections that live on it, its listeners, and the
// mailbox through which all other threads speak to it.
#pragma once

#include <uv.h>

#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "proto/transport/admission.h"
#include "proto/transport/backlog.h"
#include "proto/transport/connection.h"
#include "proto/transport/listener.h"
#include "proto/transport/loop_lag.h"
#include "proto/transport/loop_load.h"
#include "proto/transport/loop_pace.h"
#include "proto/transport/mailbox.h"
#include "proto/transport/queue_trial.h"
#include "proto/transport/replies.h"
#include "proto/transport/source.h"
#include "proto/transport/stop_signal.h"
#include "proto/transport/timer.h"
#include "proto/transport/tls.h"
#include "proto/transport/transport.h"
#include "proto/transport/uv_handle.h"
#include "proto/transport/wakeup.h"

namespace firn::proto::transport {

// What one connection may move in one turn before others get theirs.
inline constexpr std::size_t kTurnBytes = 256 << 10;

class IoLoop;

// What all I/O threads of a transport share. Constant but for the counters, once it listens.
struct Shared {
  Identity identity;
  EventSink& sink;
  Options options;
  TlsContext tls;
  Source source;               // of connections that go out
  Admission admission;         // outlives the loops, which hold places
  std::deque<LoopLag> lags;    // of the loops; outlive them
  std::deque<LoopLoad> loads;  // of the loops; outlive them
  std::vector<std::unique_ptr<IoLoop>> loops;

  std::atomic<ConnectionId> last_connection{0};
  std::atomic<std::size_t> connection_count{0};
  std::atomic<std::uint32_t> times_on_way{1};  // QueueTrial::times

  // At least half of the loops are further behind than they should be.
  bool overloaded() const;

  // A connection lives on the loop that its number says, for life.
  ConnectionId new_connection() { return new_connection_on(least_loaded(loads)); }
  ConnectionId new_connection_from(const std::string& ip) {
    if (!options.threads_by_prefix) return new_connection();
    return new_connection_on(std::hash<std::string>()(prefix_of(ip)));
  }
  ConnectionId new_connection_on(std::size_t loop) {
    return (last_connection.fetch_add(1) + 1) * loops.size() + loop % loops.size();
  }
  IoLoop& loop_of(ConnectionId id) { return *loops[id % loops.size()]; }
  LoopLoad& load_of(ConnectionId id) { return loads[id % loads.size()]; }
};

class IoLoop {
 public:
  // `number` of those of the transport, from 0.
  IoLoop(Shared& shared, std::size_t number);
  ~IoLoop();  // after stop()

  // Starts the thread.
  Status start();
  // Any thread but its own: asks it to close everything without events.
  void ask_to_stop();
  // Waits for the thread.
  void join();
  bool on_this_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

  Mailbox& mailbox() { return mailbox_; }
  Wakeup& wakeup() { return wake_; }

  // --- for what lives on this thread ---
  uv_loop_t* uv() { return &loop_; }
  Shared& shared() { return shared_; }
  UplinkQueue& uplink_queue() { return uplink_queue_; }
  LoopPace& pace() { return pace_; }
  Replies& replies() { return replies_; }
  Connection* find(ConnectionId id);
  // `delay_ms` or a little more: delays of many connections end together, in one wake-up.
  std::uint64_t together_ms(std::uint64_t delay_ms) const;
  // Something was done, and there may soon be more.
  void note_action() { acted_ = true; }
  // Gives `id` a turn before the loop next waits.
  void run_soon(ConnectionId id);
  // The connection is closed; its object goes away when nothing of it is on the stack.
  void retire(ConnectionId id);

 private:
  void run();
  void on_wake();
  void on_idle();
  void obey_orders();
  void run_ready();
  void begin_stop();
  bool rest();
  bool take_turn(bool may_wait);

  void obey(ConnectOrder& order);
  void obey(AdoptOrder& order);
  void obey(ListenOrder& order);
  void obey(SendOrder& order);
  void obey(OverflowOrder& order);
  void obey(CloseOrder& order);
  void obey(PauseOrder& order);
  void obey(GiveWayOrder& order);
  void obey(StopOrder& order);

  Shared& shared_;
  const std::size_t number_;
  Mailbox mailbox_;
  uv_loop_t loop_{};
  bool initialised_ = false;
  Wakeup wake_;
  UvHandle<uv_idle_t> idle_;  // active while a connection wants a turn
  UvHandle<uv_prepare_t> before_waiting_;
  bool may_wait_ = false;  // in this run of libuv's loop
  bool acted_ = false;     // something was done since the last rest
  std::unordered_map<ConnectionId, std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> retired_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<ConnectionId> ready_;
  std::vector<Order> orders_;  // those being obeyed
  std::thread thread_;
  UplinkQueue uplink_queue_;
  LoopPace pace_;
  LoopMeter meter_;
  Replies replies_;  // of the connection that is being read
  std::unique_ptr<Timer> ticks_;
  StopSignal stopping_;
};

}  // namespace firn::proto::transport
