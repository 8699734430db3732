#include "client/app/session/content_session.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "client/app/coding/kept_standing.h"
#include "client/app/session/secret_check.h"
#include "client/app/session/store_advice.h"
#include "client/content/division.h"
#include "client/content/find_folder.h"
#include "proto/base/stage_times.h"
#include "proto/base/within_memory.h"

namespace firn::app {

using core::SwarmCore;

ContentSession::ContentSession(const SessionHost& host, std::uint32_t number, SessionPlan plan)
    : host_(host),
      plan_(std::move(plan)),
      core_(host.loop, host.changed),
      reading_(host, plan_, core_),
      performer_(host, number, plan_, core_, reading_, *this),
      report_(host, plan_, performer_.origins()),
      standstill_(host, plan_, performer_.origins()),
      command_(host, plan_) {}

void ContentSession::start() {
  if (plan_.manifest && plan_.mode != SessionPlan::Mode::kManifestOnly) {
    open_store();
  } else {
    core_.make(plan_.content_id, plan_.core);
  }
  core_.changed();
}

// --- opening ---

void ContentSession::manifest_arrived(Manifest manifest) {
  if (const Status fits = check_secret(plan_.keys != nullptr, manifest.info); !fits.ok())
    return fail(fits.error());
  plan_.manifest = std::move(manifest);
  if (plan_.certificate_for) plan_.core.certificate = plan_.certificate_for(*plan_.manifest);
  if (plan_.mode == SessionPlan::Mode::kManifestOnly) return core_.feed(&SwarmCore::stop);
  if (plan_.serves()) {
    // As for a manifest that was there at the start.
    const content::ContentPlace named{plan_.dir, plan_.as};
    const content::ContentPlace found = content::find_content(plan_.manifest->info, named);
    if (found.dir != plan_.dir)
      host_.console.info(
          plan_.dir + " does not hold " + plan_.name() + "; taking the one in " + found.dir,
          plan_.content_id);
    plan_.dir = found.dir;
    plan_.as = found.as;
  }
  open_store();
}

void ContentSession::open_store() {
  phase_ = Phase::kOpening;
  if (host_.target_taken(plan_)) {
    return fail(Error{ErrorCode::kExists, "download " + plan_.name() + " to " + plan_.dir,
                      "another content of that name goes there; give each a folder of its own, or "
                      "another name (--as)"});
  }
  std::vector<bool> chosen;
  if (!plan_.files.empty()) {
    auto files = content::chosen_files(plan_.manifest->info, plan_.files);
    if (!files.ok()) return fail(files.error());
    chosen = *std::move(files);
  }
  if (plan_.to_stdout)
    if (const auto one = content::only_file(plan_.manifest->info, chosen); !one.ok())
      return fail(one.error());
  if (!plan_.serves() && (plan_.repair || plan_.overwrite))
    host_.console.info(what_may_change(plan_.dir, plan_.name(), plan_.repair), plan_.content_id);
  opening_ = std::make_unique<StoreOpening>(static_cast<LifeEvents&>(*this));
  if (!opening_->start(host_.coding.pool, plan_, std::move(chosen)))
    fail(Error{ErrorCode::kInternal, "open " + plan_.dir, "too much to do at once"});
}

void ContentSession::store_opened(Result<OpenedStore> opened) {
  opening_.reset();
  host_.console.clear_progress();
  if (ended()) return;  // it has failed meanwhile
  if (stopping_ || gave_up_ || (!opened.ok() && opened.error().code == ErrorCode::kCancelled)) {
    if (!core_.made()) return fail(ExitCode::kInterrupted);
    return core_.feed(&SwarmCore::stop);
  }
  if (!opened.ok())
    return fail(plan_.serves() ? opened.error() : advice_when_refused(opened.error()));
  if (const std::string warning = opened->store->take_warning(); !warning.empty())
    host_.console.warning(warning, plan_.content_id);
  if (!opened->warning.empty()) host_.console.warning(opened->warning, plan_.content_id);
  start_core(*std::move(opened));
}

void ContentSession::start_core(OpenedStore opened) {
  const Manifest& manifest = *plan_.manifest;
  if (!core_.made()) core_.make(plan_.content_id, plan_.core);

  core::StartState state;
  chosen_ = std::move(opened.chosen);
  state.wanted = content::wanted_generations(manifest.info, chosen_);
  state.verified = std::move(opened.resumed.verified);
  if (plan_.serves() && chosen_.empty()) state.verified = state.wanted;
  std::vector<std::uint32_t> with_rows;
  for (store::SpooledRow& row : opened.resumed.rows) {
    if (with_rows.empty() || with_rows.back() != row.generation)
      with_rows.push_back(row.generation);
    state.rows.push_back({row.generation, row.slot, std::move(row.vector), row.sender,
                          resumed_standing(row.standing)});
  }
  state.certificate = plan_.core.certificate;
  outcome_.mark = opened.resumed.mark;
  outcome_.store = opened.store;
  reading_.begin(opened.store, state.verified, chosen_);
  DataPlane& coding = performer_.start_coding(std::move(opened.store), with_rows);
  if (plan_.serves() && !plan_.trust) coding.check_in_background(state.verified);
  if (std::ranges::all_of(state.verified, std::identity())) coding.serve_everything();
  if (plan_.offer_manifest) performer_.trackers().offer_manifest(manifest.file_bytes);

  core_.feed(&SwarmCore::start, manifest, state, plan_.serves());
  performer_.origins().begin(coding);
  phase_ = Phase::kRunning;
  complete_ = plan_.serves();
  report_.started(core_.facts().report(core::ReportOn::kTotals), chosen_, host_.loop.now());
}

Status ContentSession::choose(const content::FileChoice& files) {
  const Info& info = plan_.manifest->info;
  auto chosen = content::chosen_files(info, files);
  if (!chosen.ok()) return chosen.error();
  plan_.files = files;
  chosen_ = content::all_chosen(*chosen) ? std::vector<bool>() : *std::move(chosen);
  complete_ = false;
  performer_.coding()->choose(chosen_);
  reading_.choose(chosen_);
  core_.feed(&SwarmCore::want, content::wanted_generations(info, chosen_));
  report_.chosen(core_.facts().report(core::ReportOn::kTotals), chosen_, host_.loop.now());
  return Done{};
}

// --- turns ---

// A content that finds no memory ends; the others go on.
void ContentSession::turn(core::TimeUs now) {
  const auto take = [&] {
    performer_.wake(now);
    if (phase_ == Phase::kLeaving) return check_left();
    // A store that is being opened for a known manifest: it is not known yet what to ask for.
    if (!core_.made()) return;
    reading_.hand_over();
    reading_.repair(performer_.coding());
    core_.wake(now);
    perform_all();
    if (phase_ >= Phase::kLeaving) return;
    const auto* const foreign = core_.facts().counters().foreign_manifest;
    if (now >= standstill_.foreign_due(foreign)) return fail(foreign->error);
    if (!awaits_progress()) return;
    if (const auto given_up = standstill_.look(core_.facts(), now)) {
      if (foreign) outcome_.failure = foreign->error;
      fail(*given_up);
    }
  };
  if (ended()) return;
  try {
    if (!core_.broken()) take();
  } catch (const std::bad_alloc&) {
    core_.break_off();
  }
  if (core_.broken() && !ended()) fail(no_memory("go on with " + plan_.name()));
}

void ContentSession::perform_all() {
  const StageScope stage(Stage::kActions);
  while (core_.fed() && phase_ < Phase::kLeaving) {
    std::vector<core::Action> actions = core_.take_actions();
    for (core::Action& action : actions) {
      if (ended()) return;
      performer_.perform(action);
    }
    performer_.flush();
  }
}

core::TimeUs ContentSession::next_wake() const {
  if (ended()) return core::kNever;
  core::TimeUs at = std::min(departure_.next_wake(), performer_.next_wake());
  if (core_.made() && phase_ < Phase::kLeaving) {
    const auto* const foreign = core_.facts().counters().foreign_manifest;
    at = std::min({at, core_.facts().next_wake(), standstill_.foreign_due(foreign)});
  }
  if (awaits_progress()) at = std::min(at, standstill_.next_wake(core_.facts()));
  return at;
}

bool ContentSession::has_target() const {
  return plan_.mode == SessionPlan::Mode::kDownload && plan_.manifest &&
         phase_ >= Phase::kOpening && (!ended() || complete_);
}

bool ContentSession::found_all_right() const {
  return performer_.coding() != nullptr && performer_.coding()->found_all_right();
}

// A store that is being opened shows its own progress, and a peer that serves waits for nobody.
bool ContentSession::awaits_progress() const {
  return core_.made() && plan_.mode == SessionPlan::Mode::kDownload && !complete_ && !stopping_ &&
         !gave_up_ && (phase_ == Phase::kWaiting || phase_ == Phase::kRunning);
}

// --- the end of the download ---

void ContentSession::store_finished() {
  if (ended()) return;  // too late to say so; the next run finds it complete
  core_.feed(&SwarmCore::content_finished);
  const core::Report report = core_.facts().report();
  if (!report.complete) return;  // something else is wanted since
  if (complete_) return;         // lost bytes of the same choice are there again
  const bool leaving = phase_ == Phase::kLeaving;
  complete_ = true;
  if (leaving) result_ = ExitCode::kOk;  // it was told to stop just before
  if (report.generations_verified == plan_.manifest->info.shape.generation_count())
    performer_.coding()->serve_everything();
  report_.completed(report, performer_.coding()->counts(), host_.loop.now());
  if (std::string dir = performer_.coding()->moved_to(); !dir.empty()) {
    host_.console.warning(plan_.dir + " was moved: " + plan_.name() + " is in " + dir,
                          plan_.content_id);
    plan_.dir = std::move(dir);
  }
  command_.run(leaving);  // exit code 0 promises that it has run
}

// Everything else is done and durable; nothing is gained by staying.
void ContentSession::store_spoiled(const Error& error) {
  host_.console.error(error, plan_.content_id);
  outcome_.failure = error;
  fail(exit_code_of(error));
}

void ContentSession::all_sources_wrong(const std::string& source) {
  if (complete_ || phase_ >= Phase::kLeaving || core_.facts().counters().neighbours > 0) return;
  fail(Error{ErrorCode::kWrongIdentity, "reach " + source,
             "whoever answers there has another key, and no other address is known"});
}

// --- leaving ---

void ContentSession::stop() {
  if (stopping_) return;
  stopping_ = true;
  reading_.end();
  if (opening_) opening_->cancel();  // store_opened() goes on
  if (core_.made() && phase_ < Phase::kLeaving && !opening_) core_.feed(&SwarmCore::stop);
  core_.changed();
}

void ContentSession::fail(const Error& error) {
  host_.console.error(error, plan_.content_id);
  outcome_.failure = error;
  fail(exit_code_of(error));
}

void ContentSession::fail(ExitCode code) {
  result_ = code;
  reading_.end();
  if (core_.made() && !core_.broken()) {
    gave_up_ = true;
    if (opening_) return opening_->cancel();  // store_opened() goes on
    return core_.feed(&SwarmCore::stop);
  }
  phase_ = Phase::kEnded;
  performer_.origins().end();
  performer_.peers().hang_up();
  host_.changed();
}

void ContentSession::hang_up() {
  performer_.peers().hang_up();
  performer_.trackers().hang_up();
}

void ContentSession::core_finished() {
  if (phase_ >= Phase::kLeaving) return;
  phase_ = Phase::kLeaving;
  const core::TimeUs at = host_.loop.now();
  result_ = result_of_leaving();
  reading_.fetch_no_more();
  performer_.origins().end();
  departure_.begin(at);
  report_.leaving(core_.facts().report(core::ReportOn::kTotals));
  performer_.peers().hang_up();
  if (DataPlane* const coding = performer_.coding()) {
    coding->close(at, [this] {
      departure_.store_closed();
      host_.changed();
    });
  } else {
    departure_.store_closed();
  }
  check_left();
}

ExitCode ContentSession::result_of_leaving() const {
  if (gave_up_) return result_;
  if (complete_) return ExitCode::kOk;
  const bool found = plan_.mode == SessionPlan::Mode::kManifestOnly && !stopping_;
  return found ? ExitCode::kOk : ExitCode::kInterrupted;
}

void ContentSession::check_left() {
  const core::TimeUs at = host_.loop.now();
  if (!departure_.over(performer_.trackers().idle(), at) || command_.holds_up(stopping_)) return;
  if (performer_.coding() != nullptr) report_.left(performer_.coding()->counts(), at);
  phase_ = Phase::kEnded;
  host_.changed();
}

// --- reporting ---

void ContentSession::report_progress(core::TimeUs now) {
  if (opening_) return opening_->show(host_.console, plan_.name());
  if (!core_.made() || phase_ >= Phase::kLeaving) return;
  using core::ReportOn;
  const ReportOn on = report_.wants_neighbours() ? ReportOn::kNeighbours : ReportOn::kTotals;
  report_.sample(core_.facts().report(on), now);
  if (running()) report_.progressed(now);
}

Reason ContentSession::waits_for() const {
  const bool waits = phase_ == Phase::kWaiting || phase_ == Phase::kRunning;
  if (!core_.made() || complete_ || !waits) return {};
  return standstill_.waits_for(core_.facts(), host_.loop.now());
}

const char* state_of(const ContentSession& session) {
  if (!session.plan().manifest) return "searching";
  if (!session.running()) return "checking";
  if (!session.complete()) return "downloading";
  return session.figures().damage.empty() ? "seeding" : "damaged";
}

std::optional<core::SwarmView> swarm_view(ContentSession& session) {
  if (!session.accepts_peers()) return std::nullopt;
  return session.core().facts().view();
}

}  // namespace firn::app
