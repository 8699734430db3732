// The life of one content within the process, phase by phase.
//
//   waiting for the manifest -> opening the store -> running -> leaving -> ended
//
// (from a manifest file the first step is left out; `info` stops after it). The swarm core decides
// what is done meanwhile, the performer does it.
// Main thread; whatever blocks runs on the worker pool.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/app/console/exit_codes.h"
#include "client/app/session/completion_command.h"
#include "client/app/session/core_doors.h"
#include "client/app/session/departure.h"
#include "client/app/session/life_events.h"
#include "client/app/session/performer.h"
#include "client/app/session/progress_report.h"
#include "client/app/session/session_host.h"
#include "client/app/session/session_plan.h"
#include "client/app/session/session_reading.h"
#include "client/app/session/standstill_watch.h"
#include "client/app/session/store_opening.h"

namespace firn::app {

// What is left of a session that has ended.
struct SessionOutcome {
  std::optional<Error> failure;     // why it failed, which has been said
  std::string mark;                 // of its work folder (client/store/work_mark.h), once open
  std::weak_ptr<const void> store;  // held by all that works on its files, also when it is gone
};

class ContentSession final : private LifeEvents {
 public:
  // `number`: of this session within the process.
  ContentSession(const SessionHost& host, std::uint32_t number, SessionPlan plan);

  void start();
  // Leaves the swarm cleanly, keeps what there is, then ends.
  void stop();
  // Closes what is left of its connections, to trackers too.
  void hang_up();
  // Other files from now on; of a download that is running. One that was complete is so again once
  // these are. Errors: as content::chosen_files()'s; nothing has changed then.
  Status choose(const content::FileChoice& files);
  // Lets time pass and performs what the core has decided.
  void turn(core::TimeUs now);
  core::TimeUs next_wake() const;

  bool accepts_peers() const { return core_.made() && phase_ <= Phase::kRunning; }
  bool running() const { return phase_ == Phase::kRunning; }
  bool ended() const { return phase_ == Phase::kEnded; }
  bool complete() const { return complete_; }
  // Its files were read in the background, from beginning to end, and are right.
  bool found_all_right() const;
  // Its files are being written, about to be, or written: nothing else may go there.
  bool has_target() const;
  const SessionOutcome& outcome() const { return outcome_; }
  ExitCode result() const { return command_.failed() ? ExitCode::kOnComplete : result_; }

  // With the manifest as soon as there is one.
  const SessionPlan& plan() const { return plan_; }
  // The files that are wanted, a flag for each, while it is running; empty: all.
  const std::vector<bool>& chosen() const { return chosen_; }
  // Questions to its core, once that is made, and limits for it.
  CoreDoors& core() { return core_; }
  SessionPeers& peers() { return performer_.peers(); }
  const SessionTrackers& trackers() const { return performer_.trackers(); }
  // Those that it may use, in the order in which they were named; none before its store is open.
  std::vector<OriginFigures> origins() const { return performer_.origins().figures(); }

  // Once a second: a progress event, and figures for the bar.
  void report_progress(core::TimeUs now);
  ProgressFigures figures() const { return report_.figures(complete_); }
  // What came and went.
  const TransferCounts& counts() const { return report_.counts(); }
  // Why nothing comes that is missing, without secrets; empty: something does, or nothing is
  // missing.
  Reason waits_for() const;

 private:
  enum class Phase { kWaiting, kOpening, kRunning, kLeaving, kEnded };

  void manifest_arrived(Manifest manifest) override;
  void store_opened(Result<OpenedStore> opened) override;
  void store_finished() override;
  void store_spoiled(const Error& error) override;
  void all_sources_wrong(const std::string& source) override;
  void core_finished() override;

  void open_store();
  void start_core(OpenedStore opened);
  void perform_all();
  bool awaits_progress() const;
  // Ends with this result, which has been said: at once where it has joined no swarm, or found no
  // memory; else it says goodbye first.
  void fail(const Error& error);
  void fail(ExitCode code);
  ExitCode result_of_leaving() const;
  void check_left();

  const SessionHost& host_;
  SessionPlan plan_;
  Phase phase_ = Phase::kWaiting;
  ExitCode result_ = ExitCode::kInternal;
  bool complete_ = false;
  bool gave_up_ = false;  // result_ says why
  bool stopping_ = false;
  SessionOutcome outcome_;
  std::vector<bool> chosen_;  // the files that are wanted, once the store is open; empty: all

  // In this order: what comes later uses what stands before it.
  CoreDoors core_;
  SessionReading reading_;
  Performer performer_;
  std::unique_ptr<StoreOpening> opening_;  // while the store is being opened
  ProgressReport report_;
  StandstillWatch standstill_;
  CompletionCommand command_;
  Departure departure_;
};

// What a session that is to go on does, as rpc.md names it.
const char* state_of(const ContentSession& session);
// How a session's swarm stands; nullopt before it has begun and when it is over.
std::optional<core::SwarmView> swarm_view(ContentSession& session);

}  // namespace firn::app
