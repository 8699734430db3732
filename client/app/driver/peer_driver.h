// The peer process: one event loop, one transport, one set of coding equipment, and a session for
// each content.
//
// A turn of the loop takes everything that has come in (messages, results of jobs, time), feeds it
// to the sessions, lets each perform what its core decided, and arms the timer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/app/backends/codec_choice.h"
#include "client/app/console/console.h"
#include "client/app/console/exit_codes.h"
#include "client/app/driver/coding_equipment.h"
#include "client/app/driver/driver_options.h"
#include "client/app/driver/own_link.h"
#include "client/app/driver/progress_ticker.h"
#include "client/app/driver/session_list.h"
#include "client/app/net/connections.h"
#include "client/app/origin/transfers.h"
#include "client/app/reading/reading_list.h"
#include "client/app/runtime/event_loop.h"
#include "client/core/base/rate_budget.h"
#include "proto/base/stage_profile.h"
#include "proto/base/stage_times.h"
#include "proto/base/thread_times.h"
#include "proto/transport/identity.h"
#include "proto/transport/transport.h"

namespace firn::app {

// Starts what a process speaks through, as Transport::start does. Tests put something in between.
using TransportStart = std::function<Result<std::unique_ptr<proto::transport::Transport>>(
    const proto::transport::Identity& identity, proto::transport::EventSink& sink,
    const proto::transport::Options& options)>;

// Main thread.
class PeerDriver {
 public:
  // Listens. Errors: kExists (port in use), kBadInput, kNoDevice, what the identity file brings.
  static Result<std::unique_ptr<PeerDriver>> start(
      const DriverOptions& options, Console& console,
      const TransportStart& start_transport = &proto::transport::Transport::start);
  ~PeerDriver();

  // Also while it runs, but not from within a session's turn.
  ContentSession& add(SessionPlan plan);
  // Destroys a session that has ended; likewise. Once the result has expired nothing uses its files
  // any more, and another session may.
  std::weak_ptr<const void> remove(const ContentSession& ended);

  const PeerId& id() const { return identity_.id(); }
  const Address& listening() const { return listening_; }
  EventLoop& loop() { return loop_; }
  const SessionList& sessions() const { return sessions_; }
  // Of all sessions since the start.
  const TransferCounts& counts() const { return counts_; }
  // Those whose stores are open.
  const ReadingList& readings() const { return readings_; }
  WorkerPool& workers() { return equipment_.workers(); }

  // Of all contents together, from now on; as DriverOptions.
  void set_limits(std::uint64_t up, std::uint64_t down);

  // Called at the end of every turn; says when it wants to be called again at the latest.
  void on_turn(std::function<core::TimeUs(core::TimeUs now)> observer);

  // As SessionList::expect.
  void expect(std::function<bool(const ContentId&)> expected) {
    sessions_.expect(std::move(expected));
  }

  // Called when SIGHUP asks a process without a terminal to look at its files again.
  void on_reload(std::function<void()> reload) { reload_ = std::move(reload); }

  // Stops all sessions cleanly.
  void stop();
  bool stopping() const { return stopping_; }
  // Until every session has ended, or, with DriverOptions::stays, it was told to stop. SIGINT or
  // SIGTERM stop(); a second one ends the process at once. SIGUSR1 shows the peers. The first
  // result that is not kOk.
  ExitCode run();

 private:
  PeerDriver(const DriverOptions& options, Console& console, proto::transport::Identity identity,
             CodecChoice codec);
  Status listen(const DriverOptions& options, const TransportStart& start_transport);
  SessionHost make_host();
  std::shared_ptr<Transfers> transfers();
  void session_changed();
  void turn();
  void signalled(int number);
  void tell_of_strangers();
  // `before`: how often stages had been entered when the profile began.
  void tell_profile(const StageProfile::Spent& spent,
                    const std::vector<ThreadWatch::Spent>& threads, const StageCounts& before);
  void arm(core::TimeUs now);
  bool over(core::TimeUs now);

  const MemoryShares memory_;
  Console& console_;
  const proto::transport::Identity identity_;
  Address listening_;

  // In this order: what comes later uses what stands before it.
  StageClock stages_;
  TransferCounts counts_;
  const bool stays_;
  const bool profile_;
  EventLoop loop_;
  TransportInbox inbox_;
  std::unique_ptr<proto::transport::Transport> transport_;
  Connections connections_;
  CodingEquipment equipment_;
  OwnLink link_;
  core::RateBudget up_budget_, down_budget_;
  ReadingList readings_;
  std::optional<Result<std::shared_ptr<Transfers>>> transfers_;  // once a content has an origin
  std::optional<SessionHost> host_;                              // once it listens
  SessionList sessions_;
  ProgressTicker ticker_;

  std::vector<TransportEvent> events_;
  std::function<core::TimeUs(core::TimeUs)> observer_;
  std::function<void()> reload_;
  bool turning_ = false;
  bool again_ = false;  // something changed during the turn
  bool stopping_ = false;
  core::TimeUs goodbye_due_ = core::kNever;
};

}  // namespace firn::app
