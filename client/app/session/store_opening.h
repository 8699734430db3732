// The opening of a content's store, on a worker: it hashes what stands on the disk, which may take
// minutes (so it is a long task of the pool), can be watched, and can be cancelled.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/app/console/console.h"
#include "client/app/runtime/worker_pool.h"
#include "client/app/session/session_plan.h"
#include "client/store/content_store.h"
#include "proto/base/result.h"

namespace firn::app {

class LifeEvents;

struct OpenedStore {
  std::shared_ptr<store::ContentStore> store;
  store::Resumed resumed;    // of a download or a part: what an earlier run left
  std::vector<bool> chosen;  // which files; empty: all
  std::string warning;       // empty: none
};

// Main thread.
class StoreOpening {
 public:
  // `life` hears store_opened() once, unless this is destroyed before.
  explicit StoreOpening(LifeEvents& life);
  // Cancels.
  ~StoreOpening();
  StoreOpening(const StoreOpening&) = delete;
  StoreOpening& operator=(const StoreOpening&) = delete;

  // `plan` has its manifest. `chosen`: the files that it wants; empty: all, or, to serve and to
  // repair, those that an earlier run was to fetch. False: the pool is full, and nothing has been
  // started.
  [[nodiscard]] bool start(WorkerPool& pool, const SessionPlan& plan, std::vector<bool> chosen);
  // store_opened() follows, with kCancelled unless the work was done by then.
  void cancel();
  // How far it is, in the place of the progress bar.
  void show(Console& console, const std::string& name) const;

 private:
  struct Shared;  // with the worker
  const std::shared_ptr<Shared> shared_;
};

}  // namespace firn::app
