// The state of a peer that there is not: contents in all states that a page can show, among them
// one of 100,000 generations and 1,000 peers, and one whose names were made up to attack the page.
// It goes on a step each time it is asked, so that a live page has something to show.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/app/daemon/rpc.h"
#include "client/app/page/status_source.h"

namespace firn::app {

class MadeUp final : public StatusSource, public DaemonMethods {
 public:
  // `others`: how many contents of no interest are listed after the ones of kinds().
  // `kinds`: whether those are listed at all.
  MadeUp(bool kinds, std::size_t others);

  Result<Json> contents() override;
  Result<ContentFacts> content(const std::string& id) override;
  std::vector<ContentRate> rates() override;
  MetricsFacts metrics() override { return {}; }
  DaemonMethods* methods() override { return this; }

  // What changes something changes the state that is shown; nothing else happens.
  Result<Json> add(const AddRequest& request) override;
  Result<Json> list() override;
  Result<Json> show(const std::string& which) override;
  Result<Json> peers(const std::string& which) override;
  Result<Json> files(const std::string& which, const content::FileChoice& choice) override;
  Result<Json> pause(const std::string& which) override { return put(which, "state", "paused"); }
  Result<Json> resume(const std::string& which, bool /*afresh*/) override {
    return put(which, "state", "downloading");
  }
  Result<Json> remove(const std::string& which, bool delete_data) override;
  Result<Json> limit(const std::string& which, const LimitChange& change) override;
  Result<Json> prioritize(const std::string& which, const std::string& priority) override;
  Result<Json> queue(const std::string& which, const std::string& to) override;
  Result<Json> move(const std::string& which, const std::string& folder,
                    const std::string& as) override;
  Result<Json> status() override;
  Result<Json> watch(const std::string& folder, const std::string& output) override;
  Result<Json> watches() override { return Json{{"folders", watched_}}; }
  Result<Json> unwatch(const std::string& folder) override;
  Result<Json> play(const std::string& which) override;
  Result<std::string> stream_url(const std::string&, const std::string&,
                                 const std::string&) override;
  Result<Json> page() override;
  Result<Json> stop() override;

 private:
  Result<Json> put(const std::string& which, const char* member, const Json& value);
  Json* find(const std::string& id);

  Json contents_ = Json::array();
  Json watched_ = Json::array({{{"folder", "/srv/in<b>"}, {"output", "/srv/downloads"}}});
  std::uint64_t steps_ = 0;  // that content() has made
};

}  // namespace firn::app
