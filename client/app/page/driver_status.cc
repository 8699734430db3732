#include "client/app/page/driver_status.h"

#include "client/app/daemon/rpc.h"
#include "proto/content/content_secret.h"
#include "proto/content/manifest.h"

namespace firn::app {
namespace {

// The members that `list` of a daemon has.
Json summary_of(const ContentSession& session) {
  const ProgressFigures figures = session.figures();
  const auto& manifest = session.plan().manifest;
  Json json = {{"content_id", session.plan().content_id.text()},
               {"name", session.plan().name()},
               {"state", !session.ended()     ? state_of(session)
                         : session.complete() ? "finished"
                                              : "failed"},
               {"bytes", manifest ? Json(manifest->info.shape.content_bytes) : Json()},
               {"complete", session.complete()}};
  json.update(progress_members(figures));
  if (const auto& failure = session.outcome().failure)
    json["failure"] = without_secrets(failure->message());
  else if (!figures.damage.empty())
    json["failure"] = without_secrets(figures.damage);
  return json;
}

}  // namespace

Result<Json> DriverStatus::contents() {
  if (methods_ != nullptr) {
    auto listed = methods_->list();
    if (!listed.ok()) return listed;
    return (*listed)["contents"];
  }
  Json contents = Json::array();
  for (const auto& session : driver_.sessions().all()) contents.push_back(summary_of(*session));
  return contents;
}

Result<ContentFacts> DriverStatus::content(const std::string& id) {
  ContentFacts facts;
  ContentSession* const session = find(id);
  if (methods_ != nullptr) {
    auto shown = methods_->show(id);
    if (!shown.ok()) return shown.error();
    facts.details = *std::move(shown);
  } else {
    if (session == nullptr)
      return Error{ErrorCode::kNotFound, "show " + id, "no content has this id"};
    facts.details = summary_of(*session);
    facts.details["folder"] = session->plan().dir;
    if (const auto why = session->waits_for(); !why.empty()) facts.details["waits_for"] = why;
  }
  const auto choice =
      content::FileChoice::from_texts(facts.details.value("choice", std::vector<std::string>()));
  const content::FileChoice files = choice.ok() ? *choice : content::FileChoice();
  if (session == nullptr) {
    facts.files = kept_files(id, files);
    return facts;
  }
  facts.swarm = swarm_view(*session);
  if (const auto& manifest = session->plan().manifest)
    facts.files = list_files(manifest->info, files);
  return facts;
}

const ListedFiles& DriverStatus::kept_files(const std::string& id,
                                            const content::FileChoice& choice) {
  if (listed_ == id && choice_ == choice && !files_.entries.empty()) return files_;
  const auto manifest = parse_manifest(methods_->manifest_of(id));
  listed_ = id;
  choice_ = choice;
  files_ = manifest.ok() ? list_files(manifest->info, choice) : ListedFiles();
  return files_;
}

std::vector<ContentRate> DriverStatus::rates() {
  std::vector<ContentRate> rates;
  for (const auto& session : driver_.sessions().all()) {
    const ProgressFigures figures = session->figures();
    rates.push_back({session->plan().content_id.text(), figures.down_rate, figures.up_rate});
  }
  return rates;
}

ContentSession* DriverStatus::find(const std::string& id) const {
  for (const auto& session : driver_.sessions().all())
    if (session->plan().content_id.text() == id) return session.get();
  return nullptr;
}

}  // namespace firn::app
