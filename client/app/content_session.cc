// A session's life: opening, starting, reporting, leaving. session_events.cc has its traffic.
#include "client/app/content_session.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "client/app/backends/accounting.h"
#include "client/app/quantities.h"
#include "proto/base/limits.h"
#include "proto/base/stage_times.h"

namespace firn::app {
namespace {

// How long goodbyes to trackers and the last writes may take.
constexpr core::TimeUs kLeaveTime = 3 * core::kSecond;

}  // namespace

ContentSession::ContentSession(SessionHost& host, std::uint32_t number, SessionPlan plan)
    : host_(host),
      number_(number),
      plan_(std::move(plan)),
      patience_(plan_.timeout),
      started_at_(host.loop.now()) {
  for (const Address& address : plan_.core.trackers) {
    trackers_.push_back(std::make_unique<TrackerClient>(host_.connections, trackers_.size(),
                                                        address, plan_.content_id, *this));
    sources_wrong_["tracker " + to_text(address)] = false;
  }
  for (const Address& address : plan_.core.peers)
    sources_wrong_["peer " + to_text(address)] = false;
}

ContentSession::~ContentSession() {
  *alive_ = false;
  if (opening_) opening_->cancelled = true;
  host_.connections.close_all(*this);
}

void ContentSession::changed() {
  dirty_ = true;
  host_.changed();
}

void ContentSession::start() {
  if (plan_.manifest && plan_.mode != SessionPlan::Mode::kManifestOnly) {
    open_store();
  } else {
    make_core();
  }
  changed();
}

void ContentSession::make_core() {
  core_ = std::make_unique<core::SwarmCore>(plan_.content_id, plan_.core, now());
}

// --- opening ---

void ContentSession::open_store() {
  phase_ = Phase::kOpening;
  if (host_.target_taken(*this)) {
    return fail(Error{ErrorCode::kExists, "download " + name() + " to " + plan_.dir,
                      "another content of that name goes there; give each a folder of its own"});
  }
  opening_ = std::make_shared<Opening>();
  const bool serve = plan_.mode == SessionPlan::Mode::kServe;
  auto task = [this, alive = alive_, opening = opening_, serve, manifest = *plan_.manifest,
               dir = plan_.dir, overwrite = plan_.overwrite, repair = plan_.repair,
               trust = plan_.trust]() -> WorkerPool::Completion {
    store::OpenOptions options;
    options.overwrite = overwrite;
    options.repair = repair;
    options.trust = trust;
    options.cancelled = [opening] { return opening->cancelled.load(); };
    options.progress = [opening](std::uint64_t done, std::uint64_t total) {
      opening->done = done;
      opening->total = total;
    };
    auto opened = std::make_shared<Opened>();
    auto store = serve
                     ? store::ContentStore::open_complete(manifest, dir, options)
                     : store::ContentStore::open_download(manifest, dir, options, opened->resumed);
    std::optional<Error> error;
    if (store.ok()) {
      opened->store = *std::move(store);
    } else {
      error = store.error();
    }
    return [this, alive, opened, error] {
      if (!*alive) return;
      store_opened(error ? Result<Opened>(*error) : Result<Opened>(std::move(*opened)));
    };
  };
  if (!host_.coding.pool.submit(WorkerPool::kUnordered, std::move(task)))
    fail(Error{ErrorCode::kInternal, "open " + plan_.dir, "too much to do at once"});
}

void ContentSession::store_opened(Result<Opened> opened) {
  opening_.reset();
  host_.console.clear_progress();
  if (phase_ == Phase::kEnded) return;  // it has failed meanwhile
  if (stopping_ || (!opened.ok() && opened.error().code == ErrorCode::kCancelled)) {
    if (!core_) return fail(ExitCode::kInterrupted);
    core_->stop(now());
    return changed();
  }
  if (!opened.ok()) return fail(opened.error());
  start_core(std::move(opened).value());
}

void ContentSession::start_core(Opened opened) {
  const Manifest& manifest = *plan_.manifest;
  const bool serve = plan_.mode == SessionPlan::Mode::kServe;
  if (!core_) make_core();

  core::StartState state;
  state.verified = std::move(opened.resumed.verified);
  if (serve) state.verified.assign(manifest.info.shape.generation_count(), true);
  std::vector<std::uint32_t> with_rows;
  for (store::SpooledRow& row : opened.resumed.rows) {
    if (with_rows.empty() || with_rows.back() != row.generation)
      with_rows.push_back(row.generation);
    state.rows.push_back({row.generation, row.slot, std::move(row.vector), row.sender});
  }
  coding_ = std::make_unique<DataPlane>(host_.coding, number_, std::move(opened.store),
                                        host_.row_bytes_max, with_rows, *this);
  if (serve && !plan_.trust) coding_->check_in_background();
  const bool everything =
      std::all_of(state.verified.begin(), state.verified.end(), [](bool v) { return v; });
  stood_complete_ = everything && !state.verified.empty();
  if (everything) coding_->serve_everything();
  if (plan_.offer_manifest)
    for (auto& tracker : trackers_) tracker->offer_manifest(manifest.file_bytes);

  core_->start(manifest, state, serve, now());
  phase_ = Phase::kRunning;
  complete_ = serve;
  last_report_ = core_->report();
  down_.sample(last_report_.bytes_received, now());
  up_.sample(last_report_.bytes_sent, now());
  say_start(last_report_);
  if (on_started) on_started();
  changed();
}

void ContentSession::say_start(const core::Report& report) {
  host_.console.event(start_event(*plan_.manifest, report, host_.listen));
  const Shape& shape = plan_.manifest->info.shape;
  if (plan_.mode == SessionPlan::Mode::kServe) {
    host_.console.info(fmt::format("serving {} ({}) on {}", name(),
                                   format_bytes(shape.content_bytes), host_.listen),
                       plan_.content_id);
  } else if (stood_complete_) {
    host_.console.info(fmt::format("{} stands complete in {}", name(), plan_.dir),
                       plan_.content_id);
  } else if (report.rank > 0) {
    const double percent =
        100.0 * static_cast<double>(report.rank) / static_cast<double>(report.rank_total);
    host_.console.info(
        fmt::format("{}: going on at {:.1f}% of {} ({} verified)", name(), percent,
                    format_bytes(shape.content_bytes), format_bytes(report.bytes_verified)),
        plan_.content_id);
    host_.console.debug(fmt::format("{}: rank {} of {}", name(), report.rank, report.rank_total));
  } else {
    host_.console.info(fmt::format("{}: {} to {}", name(), format_bytes(shape.content_bytes),
                                   plan_.dir == "." ? "the current folder" : plan_.dir),
                       plan_.content_id);
  }
}

// --- turns ---

void ContentSession::turn(core::TimeUs now) {
  if (phase_ == Phase::kEnded) return;
  for (auto& tracker : trackers_) tracker->wake(now);
  if (coding_) coding_->wake(now);
  if (phase_ == Phase::kLeaving) return check_left();
  // A store that is being opened for a known manifest: it is not known yet what to ask for.
  if (!core_) return;
  if (core_->next_wake() <= now) {
    const StageScope stage(Stage::kCore);
    core_->wake(now);
    dirty_ = true;
  }
  while (dirty_ && phase_ < Phase::kLeaving) {
    dirty_ = false;
    std::vector<core::Action> actions;
    {
      const StageScope stage(Stage::kCore);
      actions = core_->take_actions();
    }
    for (core::Action& action : actions) {
      if (phase_ == Phase::kEnded) return;
      perform(action);
    }
    if (coding_) coding_->flush();
  }
  watch_progress(now);
}

core::TimeUs ContentSession::next_wake() const {
  if (phase_ == Phase::kEnded) return core::kNever;
  core::TimeUs at = leave_due_;
  for (const auto& tracker : trackers_) at = std::min(at, tracker->next_wake());
  if (coding_) at = std::min(at, coding_->next_wake());
  if (core_ && phase_ < Phase::kLeaving) at = std::min(at, core_->next_wake());
  if (awaits_progress()) at = std::min(at, patience_.next(core_->progressed_at()));
  return at;
}

// --- ending ---

void ContentSession::stop() {
  if (stopping_) return;
  stopping_ = true;
  if (opening_) opening_->cancelled = true;  // store_opened() goes on
  if (core_ && phase_ < Phase::kLeaving && !opening_) core_->stop(now());
  changed();
}

void ContentSession::fail(const Error& error) {
  host_.console.error(error, plan_.content_id);
  fail(exit_code_of(error));
}

void ContentSession::fail(ExitCode code) {
  result_ = code;
  phase_ = Phase::kEnded;
  host_.connections.close_all(*this);
  host_.changed();
}

void ContentSession::hang_up() {
  host_.connections.close_all(*this);
  trackers_.clear();
}

void ContentSession::leave(core::TimeUs at) {
  if (phase_ >= Phase::kLeaving) return;
  phase_ = Phase::kLeaving;
  if (spoiled_ || timed_out_) {
    // It was said with the error.
  } else if (complete_ || plan_.mode == SessionPlan::Mode::kManifestOnly) {
    if (result_ != ExitCode::kOnComplete)
      result_ = stopping_ && !complete_ ? ExitCode::kInterrupted : ExitCode::kOk;
  } else {
    result_ = ExitCode::kInterrupted;
  }
  leave_due_ = at + kLeaveTime;
  if (core_) last_report_ = core_->report();
  host_.connections.close_all(*this);
  if (coding_) {
    coding_->close(at, [this] {
      store_closed_ = true;
      host_.changed();
    });
  } else {
    store_closed_ = true;
  }
  check_left();
}

void ContentSession::check_left() {
  const bool late = now() >= leave_due_;
  if (late) leave_due_ = core::kNever;
  const bool trackers_told = std::all_of(trackers_.begin(), trackers_.end(),
                                         [](const auto& tracker) { return tracker->idle(); });
  // The command of --on-complete may take as long as it likes, unless we were told to stop while it
  // ran.
  const bool child_done = !child_running_ || (stopping_ && !await_child_);
  const bool left = (store_closed_ && trackers_told) || leave_due_ == core::kNever;
  if (!left || !child_done) return;
  if (coding_) {
    host_.console.event(progress_event(
        plan_.content_id, 1e-6 * static_cast<double>(now() - started_at_), last_report_, {}));
    const Json stages{{"event", "stages"},
                      {"stages", stages_json(host_.stages.times())},
                      {"codec", codec_json(host_.coding.coder)}};
    host_.console.event(about(stages, plan_.content_id));
    host_.console.debug("time went to: " + stages_line(host_.stages.times()));
  }
  phase_ = Phase::kEnded;
  host_.changed();
}

// --- reporting ---

std::vector<Address> ContentSession::trackers() const {
  std::vector<Address> known;
  for (const auto& tracker : trackers_) known.push_back(tracker->address());
  return known;
}

std::string ContentSession::name() const {
  return plan_.manifest ? plan_.manifest->info.name : plan_.content_id.short_text();
}

void ContentSession::report_progress(core::TimeUs at) {
  if (opening_) {
    host_.console.progress("checking " + name(), opening_->done, opening_->total);
    return;
  }
  if (!core_ || phase_ >= Phase::kLeaving) return;
  last_report_ = core_->report();
  down_.sample(last_report_.bytes_received, at);
  up_.sample(last_report_.bytes_sent, at);
  if (phase_ != Phase::kRunning) return;
  host_.console.event(progress_event(plan_.content_id, 1e-6 * static_cast<double>(at - started_at_),
                                     last_report_,
                                     {down_.bytes_per_second(), up_.bytes_per_second()}));
}

ProgressFigures ContentSession::figures() const {
  ProgressFigures figures;
  figures.name = name();
  figures.rank = last_report_.rank;
  figures.rank_total = last_report_.rank_total;
  figures.down_rate = down_.bytes_per_second();
  figures.up_rate = up_.bytes_per_second();
  figures.peers = last_report_.peers;
  figures.seeding = complete_;
  if (plan_.manifest) figures.content_bytes = plan_.manifest->info.shape.content_bytes;
  const double missing = static_cast<double>(last_report_.rank_total - last_report_.rank) *
                         (plan_.manifest ? plan_.manifest->info.shape.block_bytes : 0);
  figures.seconds_left = missing / figures.down_rate;
  return figures;
}

}  // namespace firn::app
