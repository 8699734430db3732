// One content within the process: joins its swarm core with the connections, trackers, data plane
// and store that perform what the core decides.
//
//   waiting for the manifest -> opening the store -> running -> leaving -> ended
//
// (from a manifest file the first step is left out; `info` stops after it).
// Main thread; whatever blocks runs on the worker pool.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/data_plane.h"
#include "client/app/console.h"
#include "client/app/exit_codes.h"
#include "client/app/net/connections.h"
#include "client/app/net/tracker_client.h"
#include "client/app/patience.h"
#include "client/app/rate_meter.h"
#include "client/app/runtime/event_loop.h"
#include "client/core/swarm.h"
#include "client/store/content_store.h"
#include "proto/base/stage_times.h"
#include "proto/content/manifest.h"

namespace firn::app {

// What a command wants done with one content.
struct SessionPlan {
  enum class Mode {
    kDownload,      // into `dir`, then seed as core.seeding says
    kServe,         // what stands in `dir`
    kManifestOnly,  // find the manifest, then end
  };
  Mode mode = Mode::kDownload;
  ContentId content_id;
  std::optional<Manifest> manifest;
  std::string dir;
  bool overwrite = false;
  bool repair = false;
  bool trust = false;                   // serve without checking bytes ahead of need
  bool offer_manifest = false;          // to trackers that lack it
  std::string on_complete;              // shell command; empty: none
  core::TimeUs timeout = core::kNever;  // a download without progress ends after it
  core::Options core;  // the driver sets `self`, `seed`, `listen_port`, memory and budgets
};

class ContentSession;

// What all sessions of a process share.
struct SessionHost {
  EventLoop& loop;
  Connections& connections;
  CodingResources coding;
  Console& console;
  const StageClock& stages;
  std::size_t row_bytes_max;      // for each session
  std::string listen;             // "ID@HOST:PORT", for people
  std::function<void()> changed;  // a session wants a turn
  // Another session downloads a content of this one's name into the same folder.
  std::function<bool(const ContentSession&)> target_taken;
};

class ContentSession final : public PeerEvents, public CodingOutcomes, public TrackerEvents {
 public:
  ContentSession(SessionHost& host, std::uint32_t number, SessionPlan plan);
  ~ContentSession() override;

  void start();
  // Leaves the swarm cleanly, keeps what there is, then ends.
  void stop();
  // Closes what is left of its connections, to trackers too.
  void hang_up();
  // Lets time pass and performs what the core has decided.
  void turn(core::TimeUs now);
  core::TimeUs next_wake() const;

  bool accepts_peers() const { return core_ != nullptr && phase_ <= Phase::kRunning; }
  bool running() const { return phase_ == Phase::kRunning; }
  bool ended() const { return phase_ == Phase::kEnded; }
  bool complete() const { return complete_; }
  // Its files are being written, about to be, or written: nothing else may go there.
  bool has_target() const {
    return plan_.mode == SessionPlan::Mode::kDownload && plan_.manifest &&
           phase_ >= Phase::kOpening && (phase_ < Phase::kEnded || complete_);
  }
  ExitCode result() const { return result_; }
  // Every tracker has answered, or failed, once.
  bool announced() const { return trackers_heard_.size() == trackers_.size(); }

  const SessionPlan& plan() const { return plan_; }
  const std::optional<Manifest>& manifest() const { return plan_.manifest; }
  // Trackers with their ids as far as they are known.
  std::vector<Address> trackers() const;
  std::string name() const;  // for people

  // Once a second: a progress event, and figures for the bar.
  void report_progress(core::TimeUs now);
  ProgressFigures figures() const;
  // Why nothing comes, for people; empty before it has begun.
  std::string why_it_waits(core::TimeUs now) const;
  // The table of its peers, on stderr, and a peers event.
  void show_peers() const;

  // Called when the core has started on the manifest.
  std::function<void()> on_started;

  void peer_opened(core::PeerKey peer, const proto::transport::PeerInfo& info,
                   std::uint64_t attempt) override;
  void connect_failed(std::uint64_t attempt, const Error& error) override;
  void peer_closed(core::PeerKey peer, const Error& error) override;
  void peer_broke_protocol(core::PeerKey peer, const Error& error) override;
  void peer_message(core::PeerKey peer, proto::PeerMessage message,
                    std::size_t frame_bytes) override;
  void block_departed(core::PeerKey peer, std::size_t frame_bytes) override;
  void manifest_part_departed(core::PeerKey peer) override;

  void row_stored(std::uint32_t generation, std::uint32_t slot) override;
  void generation_decoded(std::uint32_t generation, core::DecodeOutcome outcome) override;
  void evidence_checked(std::uint32_t generation, const std::vector<PeerId>& guilty) override;
  void block_made(std::uint64_t ticket, proto::Payload payload) override;
  void exchanged_block_made(std::uint64_t ticket, std::vector<std::uint8_t> vector,
                            proto::Payload payload) override;
  void generation_lost(std::uint32_t generation, const Error& error, bool fetch_again) override;
  void generation_regained(std::uint32_t generation) override;
  void store_warning(const std::string& text) override;
  void store_paused(const Error& error) override;
  void store_resumed() override;
  void store_finished() override;
  void store_spoiled(const Error& error) override;

  void tracker_replied(std::size_t tracker, const proto::AnnounceReply& reply) override;
  void tracker_failed(std::size_t tracker, const Error& error,
                      std::uint32_t retry_seconds) override;
  void tracker_manifest(std::size_t tracker, Result<std::string> file_bytes) override;
  void tracker_key_seen(std::size_t tracker, const Address& pinned) override;

 private:
  enum class Phase { kWaiting, kOpening, kRunning, kLeaving, kEnded };
  struct Opened {  // what the worker that opened the store found
    std::shared_ptr<store::ContentStore> store;
    store::Resumed resumed;
  };
  // Shared with the worker that opens the store.
  struct Opening {
    std::atomic<bool> cancelled = false;
    std::atomic<std::uint64_t> done = 0, total = 0;
  };

  core::TimeUs now() const { return host_.loop.now(); }
  void changed();
  void make_core();
  void open_store();
  void store_opened(Result<Opened> opened);
  void start_core(Opened opened);
  void say_start(const core::Report& report);
  void fail(const Error& error);
  void fail(ExitCode code);
  void leave(core::TimeUs now);
  void check_left();
  void run_on_complete();

  void perform(core::Action& action);
  void perform(core::Connect& action);
  void perform(core::Close& action);
  void perform(core::Send& action);
  void perform(core::SendBlock& action);
  void perform(core::StoreRow& action);
  void perform(core::Decode& action);
  void perform(core::DropRows& action);
  void perform(core::KeepEvidence& action);
  void perform(core::CheckEvidence& action);
  void perform(core::AnnounceTo& action);
  void perform(core::FetchManifestFrom& action);
  void perform(core::ManifestArrived& action);
  void perform(core::ContentComplete& action);
  void perform(core::Finished& action);
  void perform(core::Notice& action);

  // session_views.cc: says why nothing comes, and gives up when the plan's timeout is over.
  bool awaits_progress() const;
  void watch_progress(core::TimeUs now);
  void give_up(const Reason& reason);

  // Gives up if the machine at every address that we were told proves another identity.
  void source_heard(const std::string& source, bool wrong_identity);

  SessionHost& host_;
  const std::uint32_t number_;
  SessionPlan plan_;
  Phase phase_ = Phase::kWaiting;
  ExitCode result_ = ExitCode::kInternal;
  bool complete_ = false;
  bool stood_complete_ = false;  // before we began
  bool spoiled_ = false;         // complete, but finished files were changed: result_ says so
  bool timed_out_ = false;       // without progress: result_ says so
  bool stopping_ = false;
  bool dirty_ = true;

  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::shared_ptr<Opening> opening_;
  std::unique_ptr<core::SwarmCore> core_;
  std::unique_ptr<DataPlane> coding_;
  std::vector<std::unique_ptr<TrackerClient>> trackers_;
  std::map<std::size_t, bool> trackers_heard_;
  std::map<std::uint64_t, std::string> dialled_;  // attempts at addresses given by hand
  std::map<std::uint64_t, std::string> calls_;    // all attempts under way, for people
  std::map<std::string, bool> sources_wrong_;     // addresses given by hand: wrong identity?
  Patience patience_;
  core::TimeUs started_at_ = 0;
  RateMeter down_, up_;
  core::Report last_report_;

  bool store_closed_ = false;
  bool child_running_ = false;
  bool await_child_ = false;  // although told to stop
  core::TimeUs leave_due_ = core::kNever;
};

}  // namespace firn::app
