#include "client/app/daemon/content_list.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/app/version.h"
#include "proto/base/commit.h"

namespace firn::app {
namespace {

// Of what sessions have done; at most ten times a second, however much they do.
constexpr core::TimeUs kLookInterval = 100 * core::kMillisecond;
// Contents that start or end at a time: each takes workers, and the pool has a bound.
constexpr std::size_t kStartingMax = 64;
// How often the daemon writes what contents have uploaded and how long they were seeded, and of how
// many contents at a time: the main thread does nothing else meanwhile.
constexpr core::TimeUs kRecordInterval = 600 * core::kSecond;
constexpr std::size_t kRecordsAtOnce = 256;
constexpr std::time_t kMinute = 60;
// As much of an id as `firn list` shows.
constexpr std::size_t kShownIdBytes = 8;
// A shorter beginning of an id is none: names of a letter or two would often be some.
constexpr std::size_t kIdBeginningBytes = 4;
// So long the manifest of a content that was just added may be on its way, and with it its name.
constexpr std::int64_t kNameComes = 10;  // seconds
constexpr std::size_t kCandidatesTold = 5;

std::int64_t wall_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

Error ambiguous(const std::string& which, const std::vector<DaemonContent*>& found) {
  std::string fit;
  for (std::size_t i = 0; i < std::min(found.size(), kCandidatesTold); ++i)
    fit += (i > 0 ? ", " : "") + found[i]->id().text() + " ('" + found[i]->name() + "')";
  if (found.size() > kCandidatesTold)
    fit += " and " + std::to_string(found.size() - kCandidatesTold) + " more";
  return {ErrorCode::kBadInput, "find '" + which + "'",
          "more than one content fits: " + fit + "; give more of its content id"};
}

// Of contents from `next` on, which moves past them. Each write by itself would be synced, while
// all else waits.
void keep_records(ContentsStore& store, const std::vector<std::unique_ptr<DaemonContent>>& contents,
                  std::size_t& next, std::size_t writes_max) {
  std::vector<KeptContent> counted;
  std::vector<KeptRecord*> of;
  for (; next < contents.size() && counted.size() < writes_max; ++next) {
    if (auto unkept = contents[next]->unkept()) {
      counted.push_back(std::move(unkept->counted));
      of.push_back(unkept->record);
    }
  }
  // What is not written now is next time; the goals of seeding are reached a little later then.
  if (counted.empty() || !store.update_all(counted).ok()) return;
  for (std::size_t i = 0; i < of.size(); ++i) of[i]->written(counted[i]);
}

}  // namespace

ContentList::ContentList(DaemonHost host, const QueueLimits& queue, ReadContent read)
    : host_(std::move(host)),
      queue_(queue),
      read_(std::move(read)),
      watch_(host_.driver.workers(), host_.console,
             [this](const AddRequest& request) { return add(request); }) {}

Result<std::unique_ptr<ContentList>> ContentList::restore(DaemonHost host, const QueueLimits& queue,
                                                          ReadContent read) {
  auto kept = host.store.load();
  if (!kept.ok()) return kept.error();
  auto folders = host.store.load_folders();
  if (!folders.ok()) return folders.error();
  std::unique_ptr<ContentList> list(new ContentList(std::move(host), queue, std::move(read)));
  for (KeptContent& content : *kept)
    list->contents_.push_back(std::make_unique<DaemonContent>(list->host_, std::move(content)));
  list->arrange();  // callers may come before the first turn
  list->host_.driver.expect([all = list.get()](const ContentId& id) { return all->opens(id); });
  list->kept_folders_ = *std::move(folders);
  list->watch_all();
  list->apply_limits(list->host_.driver.loop().now());
  return list;
}

core::TimeUs ContentList::turn() {
  const core::TimeUs now = host_.driver.loop().now();
  if (now >= limits_at_) apply_limits(now);
  const core::TimeUs watched = host_.driver.stopping() ? core::kNever : watch_.turn(now);
  return std::min({limits_at_, watched, turn_contents(now)});
}

core::TimeUs ContentList::turn_contents(core::TimeUs now) {
  // What a session does shows in its next turn, or in the look after that.
  if (!changed_ && now < looked_at_ + kLookInterval)
    return active_.empty() ? core::kNever : looked_at_ + kLookInterval;
  return look(now);
}

core::TimeUs ContentList::look(core::TimeUs now) {
  using Due = DaemonContent::Due;
  looked_at_ = now;
  if (std::exchange(changed_, false)) arrange();
  std::size_t working = 0;
  for (DaemonContent* const content : active_) {
    changed_ |= content->turn(working < kStartingMax);
    if (content->due() == Due::kSoon) ++working;
  }
  std::erase_if(active_, [](const DaemonContent* content) {
    return content->gone() || content->due() == Due::kNever;
  });
  std::erase_if(contents_, [](const auto& content) { return content->gone(); });
  if (now >= recorded_at_ + kRecordInterval) {
    recorded_at_ = now;
    recorded_ = 0;
  }
  if (recorded_ < contents_.size()) keep_records(host_.store, contents_, recorded_, kRecordsAtOnce);
  if (changed_) return now;
  if (active_.empty()) return core::kNever;
  return now + (working > 0 ? kLookInterval : core::kSecond);
}

// Gives each its place; all are looked at once.
void ContentList::arrange() {
  std::vector<QueueEntry> entries;
  for (const auto& content : contents_) entries.push_back(content->queue_entry());
  const std::vector<QueuePlace> places = places_of(entries, queue_);
  active_.clear();
  for (std::size_t i = 0; i < contents_.size(); ++i) {
    contents_[i]->give_place(places[i]);
    active_.push_back(contents_[i].get());
  }
}

Result<Json> ContentList::add(const AddRequest& request) {
  const std::string operation = "add " + request.source;
  if (host_.driver.stopping())
    return Error{ErrorCode::kCancelled, operation, "the daemon is stopping"};
  if (contents_.size() >= kContentsMax)
    return Error{ErrorCode::kBadInput, operation, "there are too many contents; remove some"};
  AddRequest placed = request;
  if (placed.folder.empty() && !placed.serve) placed.folder = host_.downloads;
  auto kept = read_(placed);
  if (!kept.ok()) return kept.error();
  // Nothing may be left of one that is being removed but its place in the list.
  if (std::ranges::any_of(contents_, [&](const auto& other) {
        return other->removed() && other->id() == kept->id;
      }))
    look(host_.driver.loop().now());
  for (const auto& other : contents_)
    if (other->id() == kept->id)
      return other->removed()
                 ? Error{ErrorCode::kBusy, operation, "it is being removed; try again in a moment"}
                 : Error{ErrorCode::kExists, operation, "it is there already, as " + other->name()};
  const auto plan = host_.plan(*kept);
  if (!plan.ok()) return plan.error();
  kept->added_at = added_last_ = wall_seconds();
  kept->position = 1;
  for (const auto& other : contents_)
    kept->position = std::max(kept->position, other->queue_entry().position + 1);
  if (const Status inserted = host_.store.insert(*kept); !inserted.ok()) return inserted.error();
  contents_.push_back(std::make_unique<DaemonContent>(host_, *std::move(kept)));
  arrange();
  changed_ = true;
  host_.driver.loop().wake();
  host_.hooks.added(contents_.back()->subject());
  // Not only once it has a place among the downloads.
  if (plan->mode == SessionPlan::Mode::kDownload && plan->manifest)
    if (const Status named = content::check_top_name(plan->manifest->info, {plan->dir, plan->as});
        !named.ok())
      contents_.back()->fail(named.error());
  return contents_.back()->details();
}

Result<Json> ContentList::list() {
  Json contents = Json::array();
  for (const auto& content : contents_)
    if (!content->removed()) contents.push_back(content->summary());
  Json listed = {{"contents", std::move(contents)}};
  listed.update(limits_now());
  return listed;
}

bool ContentList::opens(const ContentId& id) const {
  return std::ranges::any_of(
      contents_, [&](const auto& content) { return content->id() == id && content->opens(); });
}

// An id, or as much of one as is shown, goes before names, which strangers choose. A shorter
// beginning does not: ids with a wished beginning of a few characters are made quickly.
Result<DaemonContent*> ContentList::find(const std::string& which) {
  std::vector<DaemonContent*> found, named;
  for (const auto& content : contents_) {
    if (content->removed()) continue;
    const std::string id = content->id().text();
    if (id == which) return content.get();
    if (which.size() >= kIdBeginningBytes && id.starts_with(which))
      found.push_back(content.get());
    else if (content->name() == which)
      named.push_back(content.get());
  }
  if (found.empty() || which.size() < kShownIdBytes)
    found.insert(found.end(), named.begin(), named.end());
  if (found.size() == 1) return found.front();
  if (!found.empty()) return ambiguous(which, found);
  const bool comes =
      wall_seconds() - added_last_ < kNameComes &&
      std::ranges::any_of(contents_, [](const auto& content) {
        return content->name() == content->id().short_text() && content->queue_entry().wants;
      });
  return Error{comes ? ErrorCode::kBusy : ErrorCode::kNotFound, "find '" + which + "'",
               std::string("no content has this name, or an id that begins so") +
                   (comes ? ", and the names of some are not known yet" : "") +
                   "; `firn list` shows them"};
}

template <typename Change>
Result<Json> ContentList::change(const std::string& which, Change change) {
  const auto content = find(which);
  if (!content.ok()) return content.error();
  if (const Status changed = change(**content); !changed.ok()) return changed.error();
  arrange();
  changed_ = true;
  return (*content)->details();
}

Result<Json> ContentList::show(const std::string& which) {
  const auto content = find(which);
  if (!content.ok()) return content.error();
  return (*content)->details();
}

std::string_view ContentList::manifest_of(const std::string& which) {
  const auto content = find(which);
  return content.ok() ? (*content)->manifest() : std::string_view();
}

Result<Json> ContentList::peers(const std::string& which) {
  const auto content = find(which);
  if (!content.ok()) return content.error();
  return (*content)->peers();
}

Result<Json> ContentList::files(const std::string& which, const content::FileChoice& choice) {
  const auto content = find(which);
  if (!content.ok()) return content.error();
  if (!choice.empty()) {
    const auto changed =
        change(which, [&choice](DaemonContent& chosen) { return chosen.choose(choice); });
    if (!changed.ok()) return changed.error();
  }
  return (*content)->files();
}

Result<Json> ContentList::pause(const std::string& which) {
  return change(which, [](DaemonContent& content) { return content.pause(); });
}

Result<Json> ContentList::resume(const std::string& which, bool afresh) {
  return change(which, [afresh](DaemonContent& content) { return content.resume(afresh); });
}

Result<Json> ContentList::remove(const std::string& which, bool delete_data) {
  return change(which,
                [delete_data](DaemonContent& content) { return content.remove(delete_data); });
}

Result<Json> ContentList::limit(const std::string& which, const LimitChange& wanted) {
  if (!which.empty())
    return change(which, [&](DaemonContent& content) { return content.limit(wanted); });
  if (const Status kept = host_.limits.change(wanted); !kept.ok()) return kept.error();
  limits_changed();
  return status();
}

void ContentList::limits_changed() {
  apply_limits(host_.driver.loop().now());
  for (const auto& content : contents_) content->limits_changed();
}

Result<Json> ContentList::prioritize(const std::string& which, const std::string& priority) {
  const auto wanted = priority_of(priority);
  if (!wanted)
    return Error{ErrorCode::kBadInput, "priority '" + priority + "'", "use high, normal or low"};
  return change(which, [&](DaemonContent& content) {
    return content.rank(*wanted, content.queue_entry().position);
  });
}

Result<Json> ContentList::queue(const std::string& which, const std::string& to) {
  return change(which, [&](DaemonContent& content) { return place(content, to); });
}

Status ContentList::place(DaemonContent& content, const std::string& to) {
  const QueueEntry entry = content.queue_entry();
  std::int64_t first = entry.position, last = entry.position;
  DaemonContent *before = nullptr, *after = nullptr;  // of its kind and priority
  for (const auto& other : contents_) {
    const QueueEntry there = other->queue_entry();
    first = std::min(first, there.position);
    last = std::max(last, there.position);
    if (!there.wants || there.seeds != entry.seeds || there.priority != entry.priority) continue;
    const bool earlier = there.position < entry.position;
    if (earlier && (!before || there.position > before->queue_entry().position))
      before = other.get();
    if (there.position > entry.position &&
        (!after || there.position < after->queue_entry().position))
      after = other.get();
  }
  if (to == "first") return content.rank(entry.priority, first - 1);
  if (to == "last") return content.rank(entry.priority, last + 1);
  if (to != "up" && to != "down")
    return Error{ErrorCode::kBadInput, "queue to '" + to + "'", "use first, up, down or last"};
  DaemonContent* const other = to == "up" ? before : after;
  return other ? content.swap_position(*other) : Status(Done{});
}

void ContentList::apply_limits(core::TimeUs now) {
  const std::time_t time = wall_seconds();
  // Rules begin and end with a minute of the wall's clock, which may also be set.
  limits_at_ = host_.limits.schedule().rules().empty()
                   ? core::kNever
                   : now + (kMinute - time % kMinute) * core::kSecond;
  const LimitValues whole = host_.limits.whole_at(time);
  if (whole == applied_) return;
  applied_ = whole;
  host_.driver.set_limits(static_cast<std::uint64_t>(whole.up),
                          static_cast<std::uint64_t>(whole.down));
}

// As `status` and `list` tell them.
Json ContentList::limits_now() const {
  const std::time_t time = wall_seconds();
  const LimitValues whole = host_.limits.whole_at(time);
  const ScheduleRule* const rule = host_.limits.schedule().at(time);
  return {{"up_limit", limit_or_null(whole.up)},
          {"down_limit", limit_or_null(whole.down)},
          {"schedule", rule ? Json(rule->text) : Json()}};
}

Result<Json> ContentList::status() {
  const LimitValues whole = host_.limits.whole();
  Json rules = Json::array();
  for (const ScheduleRule& rule : host_.limits.schedule().rules()) rules.push_back(rule.text);
  std::map<std::string, int> states;
  for (const auto& content : contents_)
    if (!content->removed()) ++states[content->state()];
  Json status = {{"version", kVersion}, {"commit", build_commit()}, {"contents", states}};
  status.update(limits_now());
  status["schedules"] = std::move(rules);
  status["seed_ratio"] = limit_or_null(whole.seed_ratio, 1000);
  status["seed_time"] = limit_or_null(whole.seed_seconds);
  status["download_dir"] = host_.downloads.empty() ? Json() : Json(host_.downloads);
  status["max_downloads"] = limit_or_null(static_cast<std::int64_t>(queue_.downloads));
  status["max_seeds"] = limit_or_null(static_cast<std::int64_t>(queue_.seeds));
  return status;
}

void ContentList::finish() {
  recorded_ = 0;
  keep_records(host_.store, contents_, recorded_, contents_.size());
}

Result<Json> ContentList::move(const std::string& which, const std::string& folder,
                               const std::string& as) {
  return change(which, [&](DaemonContent& content) { return content.move(folder, as); });
}

// --- watched folders ---

void ContentList::watch_all() {
  std::vector<WatchedFolder> all = kept_folders_;
  for (const WatchedFolder& configured : configured_folders_)
    if (std::ranges::find(all, configured.folder, &WatchedFolder::folder) == all.end())
      all.push_back(configured);
  watch_.set(std::move(all));
  host_.driver.loop().wake();
}

void ContentList::watch_configured(std::vector<WatchedFolder> folders) {
  configured_folders_ = std::move(folders);
  watch_all();
}

Result<Json> ContentList::watch(const std::string& folder, const std::string& output) {
  const WatchedFolder watched{folder, output.empty() ? host_.downloads : output};
  if (const Status right = check_watched(watched); !right.ok()) return right.error();
  if (const Status kept = host_.store.keep_folder(watched); !kept.ok()) return kept.error();
  std::erase_if(kept_folders_, [&](const auto& known) { return known.folder == folder; });
  kept_folders_.push_back(watched);
  watch_all();
  return watches();
}

Result<Json> ContentList::watches() {
  Json folders = Json::array();
  for (const WatchedFolder& watched : watch_.folders())
    folders.push_back({{"folder", watched.folder}, {"output", watched.output}});
  return Json{{"folders", std::move(folders)}};
}

Result<Json> ContentList::unwatch(const std::string& folder) {
  const auto kept = std::ranges::find(kept_folders_, folder, &WatchedFolder::folder);
  if (kept == kept_folders_.end())
    return Error{ErrorCode::kNotFound, "no longer watch the folder " + folder,
                 std::ranges::find(configured_folders_, folder, &WatchedFolder::folder) ==
                         configured_folders_.end()
                     ? "it is not watched; `firn watch --list` shows those that are"
                     : "the configuration of the daemon names it"};
  if (const Status forgotten = host_.store.forget_folder(folder); !forgotten.ok())
    return forgotten.error();
  kept_folders_.erase(kept);
  watch_all();
  return watches();
}

Result<Json> ContentList::page() {
  if (page_) return page_();
  return Error{ErrorCode::kUnreachable, "open the page", "the daemon is starting"};
}

Result<Json> ContentList::play(const std::string& which) {
  const auto content = find(which);
  if (!content.ok()) return content.error();
  if (streams_.tell) return streams_.tell((*content)->id());
  return Error{ErrorCode::kUnreachable, "play '" + which + "'", "the daemon is starting"};
}

Result<std::string> ContentList::stream_url(const std::string& which, const std::string& number,
                                            const std::string& host) {
  const auto content = find(which);
  if (!content.ok()) return content.error();
  if (streams_.url) return streams_.url((*content)->id(), number, host);
  return Error{ErrorCode::kUnreachable, "play '" + which + "'", "the daemon is starting"};
}

Result<Json> ContentList::stop() {
  host_.driver.stop();
  return Json{{"stopping", true}};
}

}  // namespace firn::app
