// The trackers of one content: a client for each, and what they answer, on its way to the core.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/app/net/tracker_client.h"
#include "client/app/session/core_doors.h"
#include "client/app/session/given_sources.h"
#include "client/app/session/manifest_staging.h"
#include "client/app/session/session_host.h"
#include "client/app/session/session_plan.h"
#include "client/core/base/actions.h"

namespace firn::app {

// Main thread.
class SessionTrackers final : public TrackerEvents {
 public:
  SessionTrackers(const SessionHost& host, const SessionPlan& plan, CoreDoors& core,
                  GivenSources& sources, ManifestStaging& staging);

  void announce(const core::AnnounceTo& action, core::TimeUs now);
  void fetch_manifest(const core::FetchManifestFrom& action, core::TimeUs now);
  // To every tracker that lacks it.
  void offer_manifest(const std::string& file_bytes);
  // Closes the connections; there are no trackers any more.
  void hang_up();

  void wake(core::TimeUs now);
  core::TimeUs next_wake() const;

  // Nothing is being asked of any of them.
  bool idle() const;
  // Each has answered, or failed, once.
  bool all_heard() const { return answers_.size() == clients_.size(); }
  // Whether one of them knows this peer, as its last answer says; nullopt before all were heard.
  std::optional<bool> announced() const;
  // There are trackers, and none of them serves this content.
  bool all_refused() const;
  // With their ids as far as they are known.
  std::vector<Address> addresses() const;

  void tracker_replied(std::size_t tracker, const proto::AnnounceReply& reply) override;
  void tracker_failed(std::size_t tracker, const Error& error,
                      std::uint32_t retry_seconds) override;
  void tracker_manifest(std::size_t tracker,
                        Result<std::shared_ptr<ManifestSpool>> file_bytes) override;
  void tracker_key_seen(std::size_t tracker, const Address& pinned) override;

 private:
  const SessionHost& host_;
  const SessionPlan& plan_;
  CoreDoors& core_;
  GivenSources& sources_;
  ManifestStaging& staging_;
  std::vector<std::unique_ptr<TrackerClient>> clients_;
  std::map<std::size_t, bool> answers_;  // by tracker: whether its last one was no failure
};

}  // namespace firn::app
