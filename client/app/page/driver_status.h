// What a peer driver's sessions show, with a daemon's methods or alone.
#pragma once

#include <string>
#include <vector>

#include "client/app/driver/peer_driver.h"
#include "client/app/page/status_source.h"

namespace firn::app {

class DriverStatus final : public StatusSource {
 public:
  // `methods`: of a daemon, or null. Both outlive this object.
  DriverStatus(PeerDriver& driver, DaemonMethods* methods) : driver_(driver), methods_(methods) {}

  Result<Json> contents() override;
  Result<ContentFacts> content(const std::string& id) override;
  std::vector<ContentRate> rates() override;
  MetricsFacts metrics() override;
  DaemonMethods* methods() override { return methods_; }

 private:
  ContentSession* find(const std::string& id) const;
  // Of a content without a session, as its manifest is kept.
  const ListedFiles& kept_files(const std::string& id, const content::FileChoice& choice);

  PeerDriver& driver_;
  DaemonMethods* const methods_;
  std::string listed_;  // the content that `files_` are of: one page asks each second
  content::FileChoice choice_;
  ListedFiles files_;
};

}  // namespace firn::app
