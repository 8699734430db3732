#include "client/app/daemon/daemon_content.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/app/daemon/content_removal.h"
#include "client/app/daemon/move_check.h"
#include "client/app/session/peer_table.h"
#include "proto/content/content_secret.h"
#include "proto/content/link.h"

namespace firn::app {
namespace {

constexpr core::TimeUs kLearnAgain = 60 * core::kSecond;

std::int64_t seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

}  // namespace

Json limit_or_null(std::int64_t value, std::int64_t unit) {
  if (value <= 0) return {};
  return unit == 1 ? Json(value) : Json(static_cast<double>(value) / static_cast<double>(unit));
}

DaemonContent::DaemonContent(const DaemonHost& host, KeptContent kept)
    : host_(host),
      name_(kept.as.empty() ? kept.id.short_text() : kept.as),
      kept_(host.store, host.console, host.driver.loop(), name_, std::move(kept)),
      record_(kept_->uploaded, kept_->seeded_seconds),
      work_(host.driver.workers(), host.console, host.driver.loop(), kept_, name_),
      relocation_({host.driver.workers(), host.console, host.driver.loop()}, kept_) {
  const auto link = parse_link(kept_->link);
  private_ = link.ok() && link->secret;
  if (kept_->manifest.empty()) return;
  const auto manifest = parse_manifest(kept_->manifest, kept_->id);
  if (manifest.ok()) {
    name_ = content::top_name(manifest->info, kept_->as);
    content_bytes_ = manifest->info.shape.content_bytes;
    part_ = chosen_part(manifest->info, kept_->files);
    private_ = private_ || manifest->info.is_private;
  } else {
    fail(manifest.error());
  }
}

// --- what is asked of it ---

Status DaemonContent::change(const KeptContent& to) {
  if (kept_.forgotten() || kept_->removing)
    return Error{ErrorCode::kBusy, "change " + name_, "it is being removed"};
  kept_.set(to);
  host_.driver.loop().wake();
  return Done{};
}

Status DaemonContent::pause() {
  KeptContent paused = *kept_;
  paused.paused = true;
  if (const Status kept = change(paused); !kept.ok()) return kept;
  leave();
  return Done{};
}

// One that has stayed as long as it was to stay is served until it is paused or removed.
Status DaemonContent::resume(bool afresh) {
  if (afresh && !work_.away())
    return Error{ErrorCode::kBadInput, "begin " + name_ + " again",
                 "what it has is there, or it has had nothing; `firn resume` goes on with it"};
  KeptContent active = *kept_;
  if (afresh) active.mark.clear();
  if (active.seeded) {
    active.seeding = "forever";
    active.limits.seed_ratio = active.limits.seed_seconds = LimitValues::kNone;
  }
  active.paused = active.seeded = false;
  if (const Status kept = change(active); !kept.ok()) return kept;
  failure_.clear();
  progress_.forgive();
  if (session_ == nullptr) work_.forget();
  return Done{};
}

Status DaemonContent::remove(bool delete_data) {
  if (kept_->removing && task_.busy())
    return Error{ErrorCode::kBusy, "remove " + name_, "it is being removed"};
  if (relocation_.active())
    return Error{ErrorCode::kBusy, "remove " + name_, "it is being moved; try again after that"};
  if (delete_data) {
    KeptContent removing = *kept_;
    removing.removing = true;
    failure_.clear();
    kept_.set(std::move(removing));
  } else {
    kept_.forget();
  }
  leave();
  host_.driver.loop().wake();
  return Done{};
}

Status DaemonContent::limit(const LimitChange& limit) {
  KeptContent limited = *kept_;
  limited.limits = limit.applied_to(kept_->limits);
  if (const Status kept = change(limited); !kept.ok()) return kept;
  limits_changed();
  return Done{};
}

void DaemonContent::limits_changed() {
  if (session_ == nullptr) return;
  const LimitValues now = host_.limits.of_content(kept_->limits);
  session_->core().set_limits(static_cast<std::uint64_t>(now.up),
                              static_cast<std::uint64_t>(now.down));
}

Status DaemonContent::move(const std::string& folder, const std::string& as) {
  if (relocation_.active())
    return Error{ErrorCode::kBusy, "move " + name_, "it is being moved to another folder"};
  if (work_.away()) return Error{ErrorCode::kNotFound, "move " + name_, work_.reason()};
  const content::ContentPlace to{folder, as.empty() ? kept_->as : as};
  if (const Status free = check_move(*kept_, to); !free.ok()) return free;
  if (kept_.forgotten() || kept_->removing)
    return Error{ErrorCode::kBusy, "move " + name_, "it is being removed"};
  KeptContent moving = *kept_;
  moving.move = KeptContent::Move::kStage;
  moving.other_folder = to.dir;
  moving.other_as = to.as;
  if (const Status kept = kept_.put(std::move(moving)); !kept.ok()) return kept;
  host_.driver.loop().wake();
  relocation_.forget_failure();
  failure_.clear();
  leave();
  return Done{};
}

// A session that serves, or has yet to find what there is, makes place for one that downloads.
Status DaemonContent::choose(const content::FileChoice& files) {
  const std::string operation = "choose files of " + name_;
  if (kept_->kind == KeptContent::Kind::kServe)
    return Error{ErrorCode::kBadInput, operation, "what is only served is left as it is"};
  if (relocation_.active())
    return Error{ErrorCode::kBusy, operation, "it is being moved; try again after that"};
  if (kept_->finished_at != 0 && !part_)
    return Error{ErrorCode::kBadInput, operation, "all of its files are there"};
  const auto part = chosen_part(*kept_, files);
  if (!part.ok()) return part.error();
  KeptContent chosen = *kept_;
  chosen.files = files;
  chosen.finished_at = 0;
  chosen.seeded = false;
  chosen.stamp.clear();
  if (const Status kept = change(chosen); !kept.ok()) return kept;
  part_ = *part;
  stamped_ = false;
  failure_.clear();
  if (session_ == nullptr || leaving_) return Done{};
  if (session_->running() && !session_->plan().serves()) return session_->choose(files);
  leave();
  return Done{};
}

void DaemonContent::leave() {
  if (session_ == nullptr) return;
  leaving_ = true;
  session_->stop();
}

// --- its session ---

bool DaemonContent::turn(bool may_start) {
  kept_.retry();
  if (!kept_->as.empty()) name_ = kept_->as;  // a move may have given it that
  if (session_ != nullptr) watch();
  if (session_ == nullptr && !task_.busy() && !relocation_.busy() && files_.expired())
    act(may_start);
  const QueueEntry entry = queue_entry();
  return std::exchange(told_, entry) != entry;
}

// Nothing uses its files.
void DaemonContent::act(bool may_start) {
  if (kept_.forgotten()) {
    gone_ = kept_.saved() || host_.driver.stopping();
  } else if (relocation_.active()) {
    if (!host_.driver.stopping()) relocation_.turn();
  } else if (failure_.empty() && !host_.driver.stopping()) {
    if (kept_->removing) {
      delete_files();
    } else if (queue_entry().wants && place_.runs && may_start) {
      work_.there() ? start() : work_.look();
    }
  }
}

DaemonContent::Due DaemonContent::due() const {
  if (session_ != nullptr) {
    const bool opens = session_->plan().manifest && !session_->running();
    return opens || leaving_ ? Due::kSoon : Due::kAtTimes;
  }
  if (task_.busy() || relocation_.busy() || !files_.expired()) return Due::kSoon;
  if (relocation_.active() && !host_.driver.stopping()) return Due::kSoon;
  if (!kept_.saved()) return Due::kAtTimes;
  if (kept_.forgotten()) return Due::kSoon;
  if (!failure_.empty() || host_.driver.stopping()) return Due::kNever;
  if (!kept_->removing && !(queue_entry().wants && place_.runs)) return Due::kNever;
  return !kept_->removing && work_.away() ? Due::kAtTimes : Due::kSoon;
}

// A session that there is answers itself.
bool DaemonContent::opens() const {
  if (private_ || session_ != nullptr || !failure_.empty() || work_.away()) return false;
  if (relocation_.active())
    return !kept_.forgotten() && !kept_->removing && !kept_->paused && !kept_->seeded;
  return queue_entry().wants && place_.runs;
}

// --- its place in the queue ---

Status DaemonContent::rank(std::int64_t priority, std::int64_t position) {
  KeptContent ranked = *kept_;
  ranked.priority = priority;
  ranked.position = position;
  return change(ranked);
}

QueueEntry DaemonContent::queue_entry() const {
  const bool idle = kept_.forgotten() || kept_->removing || kept_->paused || kept_->seeded ||
                    relocation_.active();
  const bool seeds = kept_->kind == KeptContent::Kind::kServe || kept_->finished_at != 0;
  // One that is away leaves its place to others.
  const unsigned yields = work_.away() ? std::numeric_limits<unsigned>::max() : progress_.yields();
  return {!idle && failure_.empty(), seeds, kept_->priority, kept_->position, yields};
}

void DaemonContent::start() {
  auto plan = host_.plan(*kept_);
  if (!plan.ok()) return fail(plan.error());
  if (!plan->serves() || !plan->manifest) return start_session(*std::move(plan), FileStamp{});
  // A worker looks whether the files are as they were when they were right. Where the pool has no
  // room, the next turn comes soon.
  auto look = [info = plan->manifest->info, as = plan->as, dir = plan->dir] {
    return stamp_files(info, as, dir);
  };
  auto then = [this, plan = std::make_shared<SessionPlan>(*std::move(plan))](
                  const Result<FileStamp>& stamp) { start_session(std::move(*plan), stamp); };
  (void)task_.start(host_.driver.workers(), std::move(look), std::move(then));
}

// Files that cannot be looked at are the session's to complain about.
void DaemonContent::start_session(SessionPlan plan, const Result<FileStamp>& stamp) {
  if (!queue_entry().wants || !place_.runs || host_.driver.stopping()) return;
  stamp_ = stamp.ok() ? stamp->digest : std::string();
  if (!stamp_.empty())
    plan.trust =
        kept_->stamp.empty() ? kept_->trusted && stamp->as_described : kept_->stamp == stamp_;
  const LimitValues now = host_.limits.of_content(kept_->limits);
  plan.core.up_limit = static_cast<std::uint64_t>(now.up);
  plan.core.down_limit = static_cast<std::uint64_t>(now.down);
  session_ = &host_.driver.add(std::move(plan));
  record_.session_began(host_.driver.loop().now());
  progress_.session_began(host_.driver.loop().now());
}

void DaemonContent::watch() {
  learn();
  count();
  // Once, however much is lost, until it was whole again.
  const std::string damage = session_->figures().damage;
  const bool told = std::exchange(damaged_, !damage.empty());
  if (damaged_ && !told) host_.hooks.failed(subject(), without_secrets(damage));
  if (session_->running() && !session_->complete()) work_.look();
  if (work_.away() && !leaving_) leave();  // so that it can go on with what comes back
  if (!place_.runs && !leaving_) leave();
  if (!session_->ended()) return;
  figures_ = session_->figures();
  figures_.rest();
  // Without it the goals of seeding are reached a little later. Of a daemon that ends all are kept
  // together.
  if (const auto one = host_.driver.stopping() ? std::nullopt : unkept())
    if (host_.store.update(one->counted).ok()) kept_.written(one->counted);
  if (!std::exchange(leaving_, false) && !host_.driver.stopping()) {
    if (const auto& failure = session_->outcome().failure) {
      fail(*failure, true);
    } else if (session_->complete()) {
      KeptContent seeded = *kept_;
      seeded.seeded = true;
      if (const Status kept = change(seeded); !kept.ok()) fail(kept.error());
    } else {
      fail({ErrorCode::kCancelled, "it ended before it was complete", ""}, true);
    }
  }
  files_ = host_.driver.remove(*session_);
  session_ = nullptr;
  if (work_.there()) work_.forget();
}

// Ends the session once a goal of seeding is reached.
void DaemonContent::count() {
  const core::TimeUs now = host_.driver.loop().now();
  const bool seeds = session_->running() && session_->complete();
  const ProgressFigures figures = session_->figures();
  record_.sample(figures.bytes_sent, seeds, now);
  const bool works =
      session_->complete() || leaving_ || (session_->plan().manifest && !session_->running());
  progress_.sample(figures.rank, works, place_.others_wait, host_.queue_patience, now);
  if (!seeds || leaving_ || kept_.forgotten() || kept_->seeded || now < learns_at_) return;
  if (!record_.reached(host_.limits.of_content(kept_->limits), figures.bytes_wanted)) return;
  KeptContent seeded = *kept_;
  seeded.seeded = true;
  if (const Status kept = change(seeded); !kept.ok()) {
    learns_at_ = now + kLearnAgain;
    return host_.console.warning(kept.error().message(), kept_->id);
  }
  host_.console.info(name_ + ": finished seeding", kept_->id);
  leave();
}

std::optional<DaemonContent::Unkept> DaemonContent::unkept() {
  const bool news =
      record_.uploaded() != kept_->uploaded || record_.seconds() != kept_->seeded_seconds;
  if (!news || kept_.forgotten()) return std::nullopt;
  KeptContent recorded = *kept_;
  recorded.uploaded = record_.uploaded();
  recorded.seeded_seconds = record_.seconds();
  recorded.manifest = std::string();  // there may be many to write, and it is not written
  return Unkept{std::move(recorded), &kept_};
}

// Keeps what the session has found out. A write that fails is tried again after a while: the disk
// may be full.
void DaemonContent::learn() {
  const core::TimeUs now = host_.driver.loop().now();
  if (kept_.forgotten() || now < learns_at_) return;
  const auto note = [&](const Status& kept) {
    if (kept.ok()) return true;
    learns_at_ = now + kLearnAgain;
    host_.console.warning(kept.error().message(), kept_->id);
    return false;
  };
  const auto& manifest = session_->plan().manifest;
  if (manifest && kept_->manifest.empty()) {
    name_ = content::top_name(manifest->info, kept_->as);
    content_bytes_ = manifest->info.shape.content_bytes;
    part_ = chosen_part(manifest->info, kept_->files);
    private_ = private_ || manifest->info.is_private;
    if (!note(kept_.put_manifest(manifest->file_bytes))) return;
  }
  const std::string& mark = session_->outcome().mark;
  const bool may_mark =
      !leaving_ || kept_->mark.empty();  // it may leave what came in another's place
  if (!mark.empty() && kept_->finished_at == 0 && may_mark && mark != kept_->mark) {
    KeptContent marked = *kept_;
    marked.mark = mark;
    if (!note(kept_.put(std::move(marked)))) return;
  }
  if (session_->complete() && kept_->finished_at == 0 && session_->plan().files == kept_->files) {
    KeptContent finished = *kept_;
    if (session_->chosen().empty()) finished.mark.clear();
    finished.finished_at = seconds_since_1970();
    if (!note(kept_.put(std::move(finished)))) return;
    if (kept_->kind == KeptContent::Kind::kDownload) host_.hooks.completed(subject());
  }
  if (session_->plan().serves()) {
    const bool right =
        session_->running() && (session_->plan().trust || session_->found_all_right());
    if (!right || stamp_.empty() || stamp_ == kept_->stamp) return;
    KeptContent stamped = *kept_;
    stamped.stamp = stamp_;
    (void)note(kept_.put(std::move(stamped)));
  } else if (session_->complete() && kept_->stamp.empty() && !task_.busy() && !stamped_) {
    // What has just been verified and written has the times of the manifest.
    stamped_ = true;
    auto look = [info = manifest->info, as = session_->plan().as, dir = session_->plan().dir] {
      return stamp_files(info, as, dir);
    };
    (void)task_.start(host_.driver.workers(), std::move(look),
                      [this](const Result<FileStamp>& stamp) { keep_stamp(stamp); });
  }
}

void DaemonContent::keep_stamp(const Result<FileStamp>& stamp) {
  if (!stamp.ok() || !stamp->as_described || kept_.forgotten()) return;
  KeptContent stamped = *kept_;
  stamped.stamp = stamp->digest;
  // Without it the files are read once more when the daemon starts again.
  if (kept_.put(std::move(stamped)).ok()) stamp_ = kept_->stamp;
}

void DaemonContent::fail(const Error& error, bool said) {
  if (!said) host_.console.error(error, kept_->id);
  failure_ = error.message();
  host_.hooks.failed(subject(), without_secrets(failure_));
}

// --- its files ---

void DaemonContent::delete_files() {
  const auto then = [this](const Status& deleted) {
    if (!deleted.ok()) return fail(deleted.error());
    kept_.forget();
    host_.driver.loop().wake();
    host_.console.info(name_ + ": removed, and its files deleted", kept_->id);
  };
  (void)task_.start(
      host_.driver.workers(), [kept = *kept_] { return delete_content(kept); }, then);
}

// --- how it stands ---

std::string DaemonContent::state() const {
  if (relocation_.active()) return "moving";
  if (!failure_.empty()) return "failed";
  if (kept_->removing) return "removing";
  if (session_ == nullptr) {
    if (kept_->paused) return "paused";
    if (kept_->seeded) return "finished";
    if (work_.away()) return "waiting";
    return place_.runs ? "starting" : "queued";
  }
  if (leaving_) return "stopping";
  return state_of(*session_);
}

Json DaemonContent::summary() const {
  const bool active = session_ != nullptr;
  ProgressFigures figures = active ? session_->figures() : figures_;
  // Of a content that has had no session in this run, its files are as they were when it had one,
  // unless it failed because they are not.
  figures.seeding |= !active && kept_->finished_at != 0 && failure_.empty();
  const LimitValues limits = host_.limits.of_content(kept_->limits);
  Json json = {
      {"content_id", kept_->id.text()},
      {"name", name_},
      {"state", state()},
      {"bytes", content_bytes_ == 0 && kept_->manifest.empty() ? Json() : Json(content_bytes_)},
      {"complete", kept_->finished_at != 0}};
  json.update(part_json(part_));
  json.update(progress_members(figures));
  json["up_limit"] = limit_or_null(limits.up);
  json["down_limit"] = limit_or_null(limits.down);
  json["priority"] = priority_name(kept_->priority);
  const bool waits = place_.waits_as != 0 && queue_entry().wants;
  json["queue_position"] = waits ? Json(place_.waits_as) : Json();
  const std::string& why = failure_.empty() && active ? figures.damage : failure_;
  if (!why.empty()) json["failure"] = without_secrets(why);
  return json;
}

Json DaemonContent::details() const {
  Json json = summary();
  json.update(kept_json(*kept_));
  if (!relocation_.failure().empty()) json["move_failure"] = without_secrets(relocation_.failure());
  if (!kept_.saved()) json["saved"] = false;
  const LimitValues goals = host_.limits.of_content(kept_->limits);
  json["seed_ratio"] = limit_or_null(goals.seed_ratio, 1000);
  json["seed_time"] = limit_or_null(goals.seed_seconds);
  json["uploaded"] = record_.uploaded();
  json["seeded_seconds"] = record_.seconds();
  json["stamped"] = !stamp_.empty() && stamp_ == kept_->stamp;
  json.update(ways_to_it(session_, host_));
  if (work_.away()) json["waits_for"] = work_.reason();
  if (session_ != nullptr)
    if (const std::string why = session_->waits_for().text; !why.empty()) json["waits_for"] = why;
  return json;
}

Json DaemonContent::peers() const {
  std::optional<core::SwarmView> met;
  if (session_ != nullptr) met = swarm_view(*session_);
  const core::SwarmView view = std::move(met).value_or(core::SwarmView{});
  return {{"content_id", kept_->id.text()},
          {"peers", peers_json(view.peers)},
          {"bans", bans_json(view.bans)}};
}

Result<Json> DaemonContent::files() const {
  return files_json(*kept_, name_, session_);
}

}  // namespace firn::app
