// What bounds the daemon's traffic: its limits for all contents together, which a command may
// change, and what holds for each content that has no limits of its own.
//
//   limits of a content:   its own (firn limit CONTENT), else for each content (configuration)
//   limits of the whole:   the schedule now, else kept (firn limit), else the configuration
//   goals of seeding:      the content's, else kept for all (firn limit), else the configuration
//
// Main thread.
#pragma once

#include <ctime>
#include <utility>

#include "client/app/daemon/bandwidth_schedule.h"
#include "client/app/daemon/contents_store.h"
#include "client/app/daemon/limit_values.h"
#include "proto/base/result.h"

namespace firn::app {

// What the command line and the configuration say; nothing in it is unset.
struct ConfiguredLimits {
  LimitValues whole{0, 0, 0, 0};
  std::int64_t content_up = 0;  // of each content
  std::int64_t content_down = 0;
  BandwidthSchedule schedule = {};
};

class TransferLimits {
 public:
  // Takes what the store keeps. Errors: as ContentsStore::limits(). `store` outlives the result.
  static Result<TransferLimits> restore(ContentsStore& store, ConfiguredLimits configured);

  // Kept before it returns. Errors: as the store's; nothing has changed then.
  Status change(const LimitChange& change);

  // The configuration was read again.
  void configure(ConfiguredLimits configured) { configured_ = std::move(configured); }

  // What holds for all contents together; nothing in it is unset. Its goals of seeding hold for
  // each content.
  LimitValues whole() const { return kept_.or_else(configured_.whole); }
  // Likewise, with what the schedule says at that time.
  LimitValues whole_at(std::time_t time) const;
  const BandwidthSchedule& schedule() const { return configured_.schedule; }
  // What holds for a content with these limits of its own; nothing in it is unset.
  LimitValues of_content(const LimitValues& own) const;

 private:
  TransferLimits(ContentsStore& store, ConfiguredLimits configured, const LimitValues& kept)
      : store_(&store), configured_(std::move(configured)), kept_(kept) {}

  ContentsStore* store_;
  ConfiguredLimits configured_;
  LimitValues kept_;
};

}  // namespace firn::app
