// Performs what a session's core decides, and owns what that takes: the content's peers, its
// trackers, and its data plane.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client/app/coding/data_plane.h"
#include "client/app/session/coding_answers.h"
#include "client/app/session/given_sources.h"
#include "client/app/session/session_origins.h"
#include "client/app/session/session_peers.h"
#include "client/app/session/session_trackers.h"
#include "client/core/base/actions.h"

namespace firn::app {

// Main thread.
class Performer {
 public:
  // `number`: of the session within the process. `plan` may learn its manifest and folder later.
  Performer(const SessionHost& host, std::uint32_t number, const SessionPlan& plan, CoreDoors& core,
            SessionReading& reading, LifeEvents& life);

  // The store is open: makes the data plane. Actions about rows, blocks and generations come only
  // after it. `with_rows`: generations with rows in the spool.
  DataPlane& start_coding(std::shared_ptr<store::ContentStore> store,
                          const std::vector<std::uint32_t>& with_rows);

  void perform(core::Action& action);
  // After a batch of actions: starts the coding that they gathered.
  void flush();

  void wake(core::TimeUs now);
  core::TimeUs next_wake() const;

  SessionPeers& peers() { return peers_; }
  SessionTrackers& trackers() { return trackers_; }
  const SessionTrackers& trackers() const { return trackers_; }
  SessionOrigins& origins() { return origins_; }
  const SessionOrigins& origins() const { return origins_; }
  DataPlane* coding() { return coding_.get(); }  // null before start_coding()
  const DataPlane* coding() const { return coding_.get(); }

 private:
  core::TimeUs now() const { return host_.loop.now(); }

  void on(core::Connect& action);
  void on(core::Close& action);
  void on(core::Send& action);
  void on(core::SendBlock& action);
  void on(core::StoreRow& action);
  void on(core::MarkProven& action);
  void on(core::DoubtRows& action);
  void on(core::Decode& action);
  void on(core::FetchFromOrigin& action);
  void on(core::DropRows& action);
  void on(core::DropSlots& action);
  void on(core::JudgeRows& action);
  void on(core::MakeCheck& action);
  void on(core::MakeLeaves& action);
  void on(core::AnnounceTo& action);
  void on(core::FetchManifestFrom& action);
  void on(core::ManifestArrived& action);
  void on(core::ContentComplete& action);
  void on(core::Finished& action);
  void on(core::Notice& action);

  const SessionHost& host_;
  const std::uint32_t number_;
  const SessionPlan& plan_;
  LifeEvents& life_;

  // In this order: what comes later uses what stands before it.
  GivenSources sources_;
  ManifestStaging staging_;
  SessionTrackers trackers_;
  SessionOrigins origins_;
  CodingAnswers answers_;
  std::unique_ptr<DataPlane> coding_;
  SessionPeers peers_;
};

}  // namespace firn::app
