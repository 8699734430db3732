#include "proto/web/live_update.h"

#include <nlohmann/json.hpp>

namespace firn::web {

using Json = nlohmann::ordered_json;

void LiveUpdate::regions(const Regions& regions) {
  for (const auto& [id, markup] : regions) {
    const auto sent = sent_.find(id);
    if (sent == sent_.end() || sent->second != markup) changed_.emplace_back(id, markup);
  }
}

std::string LiveUpdate::text() const {
  Json event = Json::object();
  for (const auto& [id, markup] : changed_) event["regions"][id] = markup;
  if (!failure_.empty()) event["failure"] = failure_;
  if (event.empty()) return ":\n\n";
  // A line: what JSON escapes has no line ends.
  return "data: " + event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n\n";
}

void LiveUpdate::commit() {
  for (const auto& [id, markup] : changed_) sent_[id] = markup;
}

}  // namespace firn::web
