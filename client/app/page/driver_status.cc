#include "client/app/page/driver_status.h"

#include <map>
#include <set>
#include <utility>

#include "client/app/console/json_members.h"
#include "client/app/daemon/rpc.h"
#include "client/app/page/metrics_text.h"
#include "client/app/session/peer_table.h"
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

// Counts it in `facts`.
MetricsFacts::Content content_metrics(ContentSession& session, MetricsFacts& facts) {
  MetricsFacts::Content content;
  const SessionPlan& plan = session.plan();
  const bool is_private = plan.keys != nullptr || (plan.manifest && plan.manifest->info.is_private);
  if (!is_private) content.name = plan.name();
  const ProgressFigures figures = session.figures();
  content.waits_for = session.waits_for().name;
  content.share = share_of(figures);
  content.bytes_wanted = figures.bytes_wanted;
  content.counts = session.counts();
  if (!content.waits_for.empty()) ++facts.waiting[content.waits_for];
  for (const OriginFigures& origin : figures.arrivals.origins)
    if (!origin.trouble.empty()) ++facts.failing_origins;
  if (!session.accepts_peers()) return content;
  for (const core::PeerStatus& peer : session.core().facts().peers()) {
    ++content.peers;
    if (peer.not_sent) ++facts.unserved_peers[why_not_name(*peer.not_sent)];
  }
  facts.peers += content.peers;
  return content;
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
    if (const auto why = session->waits_for().text; !why.empty()) facts.details["waits_for"] = why;
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

MetricsFacts DriverStatus::metrics() {
  MetricsFacts facts = no_facts();
  facts.counts = driver_.counts();
  std::map<std::string, ContentSession*> sessions;
  for (const auto& session : driver_.sessions().all())
    sessions[session->plan().content_id.text()] = session.get();
  const auto listed = contents();
  if (!listed.ok()) return facts;
  std::vector<MetricsFacts::Content> complete;
  std::set<std::string> told;
  for (const Json& content : *listed) {
    const std::string id = text_of(content, "content_id"), state = text_of(content, "state");
    ++facts.states[state];
    const auto session = sessions.find(id);
    if (session == sessions.end() && state != "failed") continue;
    MetricsFacts::Content one;
    if (session != sessions.end()) one = content_metrics(*session->second, facts);
    one.id = id.substr(0, MetricsFacts::kIdLetters);
    one.state = state;
    // The same labels twice would spoil all of it for Prometheus.
    if (!told.insert(one.id).second) continue;
    const bool done = state == "seeding" || state == "finished";
    (done ? complete : facts.contents).push_back(std::move(one));
  }
  facts.contents.insert(facts.contents.end(), complete.begin(), complete.end());
  if (facts.contents.size() > MetricsFacts::kContentsMax) {
    facts.unlisted = facts.contents.size() - MetricsFacts::kContentsMax;
    facts.contents.resize(MetricsFacts::kContentsMax);
  }
  return facts;
}

ContentSession* DriverStatus::find(const std::string& id) const {
  for (const auto& session : driver_.sessions().all())
    if (session->plan().content_id.text() == id) return session.get();
  return nullptr;
}

}  // namespace firn::app
