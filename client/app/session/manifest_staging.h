// Where manifests from the network lie until they are whole and proven: each is hashed on a worker,
// and the core gets only one that has the content's id.
#pragma once

#include <cstddef>
#include <map>
#include <memory>

#include "client/app/net/manifest_spool.h"
#include "client/app/session/core_doors.h"
#include "client/app/session/session_host.h"
#include "client/app/session/session_plan.h"
#include "client/core/base/actions.h"

namespace firn::app {

// Of what is for data, one manifest takes this part of memory; the rest of it lies in a file.
constexpr std::uint64_t kManifestMemoryShare = 16;

// Main thread.
class ManifestStaging {
 public:
  // All outlive it.
  ManifestStaging(const SessionHost& host, const SessionPlan& plan, CoreDoors& core)
      : host_(host), plan_(plan), core_(core) {}
  ~ManifestStaging() { *here_ = false; }
  ManifestStaging(const ManifestStaging&) = delete;
  ManifestStaging& operator=(const ManifestStaging&) = delete;

  // A part from a neighbour.
  void keep(const core::KeepManifestPart& action);
  // All of one from a tracker: sealed, if the content is private.
  void came_from(std::size_t tracker, std::shared_ptr<ManifestSpool> spool);
  // The right one has been found.
  void clear() { staged_.clear(); }

 private:
  struct Staged {
    std::shared_ptr<ManifestSpool> spool;
    Status kept = Done{};
  };
  void prove(core::PeerKey peer, std::size_t tracker, std::shared_ptr<ManifestSpool> spool);
  void answer(core::PeerKey peer, std::size_t tracker, Result<std::string> proven);

  const SessionHost& host_;
  const SessionPlan& plan_;
  CoreDoors& core_;
  std::map<core::PeerKey, Staged> staged_;
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace firn::app
