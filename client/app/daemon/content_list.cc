#include "client/app/daemon/content_list.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

namespace firn::app {

Result<std::unique_ptr<ContentList>> ContentList::restore(DaemonHost host, ReadContent read) {
  auto kept = host.store.load();
  if (!kept.ok()) return kept.error();
  std::unique_ptr<ContentList> list(new ContentList(std::move(host), std::move(read)));
  for (KeptContent& content : *kept)
    list->contents_.push_back(std::make_unique<DaemonContent>(list->host_, std::move(content)));
  return list;
}

core::TimeUs ContentList::turn() {
  for (const auto& content : contents_) content->turn();
  std::erase_if(contents_, [](const auto& content) { return content->gone(); });
  return core::kNever;
}

Result<Json> ContentList::add(const AddRequest& request) {
  const std::string operation = "add " + request.source;
  if (host_.driver.stopping())
    return Error{ErrorCode::kCancelled, operation, "the daemon is stopping"};
  if (contents_.size() >= kContentsMax)
    return Error{ErrorCode::kBadInput, operation, "there are too many contents; remove some"};
  auto kept = read_(request);
  if (!kept.ok()) return kept.error();
  for (const auto& other : contents_)
    if (other->id() == kept->id)
      return Error{ErrorCode::kExists, operation,
                   other->removed() ? "it is being removed; try again in a moment"
                                    : "it is there already, as " + other->name()};
  if (const auto plan = host_.plan(*kept); !plan.ok()) return plan.error();
  kept->added_at = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  if (const Status inserted = host_.store.insert(*kept); !inserted.ok()) return inserted.error();
  contents_.push_back(std::make_unique<DaemonContent>(host_, *std::move(kept)));
  host_.driver.loop().wake();
  return contents_.back()->details();
}

Result<Json> ContentList::list() {
  Json contents = Json::array();
  for (const auto& content : contents_)
    if (!content->removed()) contents.push_back(content->summary());
  return Json{{"contents", std::move(contents)}};
}

// An id or a name that fits whole goes before the beginning of an id.
Result<DaemonContent*> ContentList::find(const std::string& which) {
  std::vector<DaemonContent*> named, begun;
  for (const auto& content : contents_) {
    if (content->removed()) continue;
    const std::string id = content->id().text();
    if (id == which) return content.get();
    if (content->name() == which) named.push_back(content.get());
    if (id.starts_with(which)) begun.push_back(content.get());
  }
  const auto& found = named.empty() ? begun : named;
  if (found.size() == 1) return found.front();
  if (found.empty())
    return Error{ErrorCode::kNotFound, "find '" + which + "'",
                 "no content has this name, or an id that begins so; `firn list` shows them"};
  return Error{ErrorCode::kBadInput, "find '" + which + "'",
               "more than one content fits; give more of its content id"};
}

template <typename Change>
Result<Json> ContentList::change(const std::string& which, Change change) {
  const auto content = find(which);
  if (!content.ok()) return content.error();
  if (const Status changed = change(**content); !changed.ok()) return changed.error();
  return (*content)->details();
}

Result<Json> ContentList::show(const std::string& which) {
  return change(which, [](DaemonContent&) -> Status { return Done{}; });
}

Result<Json> ContentList::peers(const std::string& which) {
  const auto content = find(which);
  if (!content.ok()) return content.error();
  return (*content)->peers();
}

Result<Json> ContentList::pause(const std::string& which) {
  return change(which, [](DaemonContent& content) { return content.pause(); });
}

Result<Json> ContentList::resume(const std::string& which) {
  return change(which, [](DaemonContent& content) { return content.resume(); });
}

Result<Json> ContentList::remove(const std::string& which, bool delete_data) {
  return change(which,
                [delete_data](DaemonContent& content) { return content.remove(delete_data); });
}

Result<Json> ContentList::stop() {
  host_.driver.stop();
  return Json{{"stopping", true}};
}

}  // namespace firn::app
