// The peer process: one event loop, one transport, one worker pool, and a session for each content.
//
// A turn of the loop takes everything that has come in (messages, results of jobs, time), feeds it
// to the sessions, lets each perform what its core decided, and arms the timer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/app/backends/codec_choice.h"
#include "client/app/console.h"
#include "client/app/exit_codes.h"
#include "client/app/net/connections.h"
#include "client/app/runtime/event_loop.h"
#include "client/app/runtime/worker_pool.h"
#include "client/app/session/content_session.h"
#include "client/core/rate_budget.h"
#include "codec/kernels.h"
#include "proto/base/stage_times.h"
#include "proto/transport/identity.h"
#include "proto/transport/transport.h"

namespace firn::app {

struct DriverOptions {
  std::string identity_file;  // empty: a fresh identity
  Address listen{{}, "*", 0};
  std::string interface;       // to listen on and connect through; empty: any
  std::uint64_t up_limit = 0;  // of all contents together, bytes per second; 0: none
  std::uint64_t down_limit = 0;
  std::uint64_t memory_bytes = 128u << 20;
  int io_threads = 1;
  CodecMode codec = CodecMode::kAuto;
  unsigned threads = default_worker_count();  // for coding, hashing and disk
  std::size_t content_count = 1;              // how many sessions share the memory
  bool only_serves = false;                   // no session downloads
  core::TimeUs peers_interval = 0;            // a table of peers so often; 0: when asked alone
};

// Main thread.
class PeerDriver {
 public:
  // Listens. Errors: kExists (port in use), kBadInput, kNoDevice, what the identity file brings.
  static Result<std::unique_ptr<PeerDriver>> start(const DriverOptions& options, Console& console);
  ~PeerDriver();

  ContentSession& add(SessionPlan plan);

  const PeerId& id() const { return identity_.id(); }
  const Address& listening() const { return listening_; }

  // Called at the end of every turn; says when it wants to be called again at the latest.
  void on_turn(std::function<core::TimeUs(core::TimeUs now)> observer);

  // Stops all sessions cleanly.
  void stop();
  // Until every session has ended. SIGINT or SIGTERM stop(); a second one ends the process at once.
  // SIGUSR1 shows the peers.
  // The first result that is not kOk.
  ExitCode run();

 private:
  PeerDriver(const DriverOptions& options, Console& console, proto::transport::Identity identity);
  void turn();
  void signalled(int number);
  void show_peers(core::TimeUs now);
  void report_progress(core::TimeUs now);
  void start_coder();
  bool target_taken(const SessionPlan& plan) const;
  void tell_of_strangers();
  void arm(core::TimeUs now);
  bool over(core::TimeUs now);

  const DriverOptions options_;
  Console& console_;
  const proto::transport::Identity identity_;
  Address listening_;

  // In this order: what comes later uses what stands before it.
  StageClock stages_;
  EventLoop loop_;
  TransportInbox inbox_;
  std::unique_ptr<proto::transport::Transport> transport_;
  Connections connections_;
  BufferPool buffers_;
  LoopBudget loop_budget_;
  GenerationCache cache_;
  WorkerPool pool_;
  CodecChoice codec_;
  std::unique_ptr<BatchCoder> coder_;  // null without a device
  core::RateBudget up_budget_, down_budget_;
  std::unique_ptr<SessionHost> host_;
  std::vector<std::unique_ptr<ContentSession>> sessions_;

  std::vector<TransportEvent> events_;
  std::function<core::TimeUs(core::TimeUs)> observer_;
  bool turning_ = false;
  bool again_ = false;  // something changed during the turn
  bool stopping_ = false;
  core::TimeUs progress_at_ = 0;
  core::TimeUs peers_at_ = core::kNever;
  core::TimeUs goodbye_due_ = core::kNever;
};

}  // namespace firn::app
