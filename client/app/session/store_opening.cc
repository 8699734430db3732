#include "client/app/session/store_opening.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "client/app/session/life_events.h"
#include "client/content/division.h"
#include "client/store/kept_choice.h"
#include "proto/base/within_memory.h"

namespace firn::app {
namespace {

// Descriptors and memory that are lacking may be had again soon.
constexpr std::chrono::milliseconds kOpenAgainAfter{250};
constexpr int kOpeningsMax = 40;

// Whether a part is there as far as it was chosen.
Status check_part(const Manifest& manifest, const std::string& dir, const OpenedStore& part) {
  const std::vector<bool> wanted = content::wanted_generations(manifest.info, part.chosen);
  for (std::size_t g = 0; g < wanted.size(); ++g) {
    if (wanted[g] && !part.resumed.verified[g])
      return Error{ErrorCode::kNotFound, "serve what was chosen in " + dir,
                   "not all of it is there; firn get with that choice of files goes on with it"};
  }
  return Done{};
}

// To serve, and to repair without a choice of files, is to take the choice of an earlier run.
Result<OpenedStore> open_store(const Manifest& manifest, const std::string& dir, bool serve,
                               store::OpenOptions options) {
  OpenedStore opened;
  if (serve) options.overwrite = options.repair = false;
  if (options.chosen.empty() && (serve || options.repair)) {
    auto kept = store::kept_choice(dir, manifest);
    if (!kept.ok() && kept.error().code != ErrorCode::kCorrupt) return kept.error();
    if (!kept.ok()) opened.warning = kept.error().message();
    if (kept.ok()) options.chosen = *std::move(kept);
  }
  if (!content::all_chosen(options.chosen)) opened.chosen = options.chosen;
  const bool part = !opened.chosen.empty();
  auto store = serve && !part
                   ? store::ContentStore::open_complete(manifest, dir, options)
                   : store::ContentStore::open_download(manifest, dir, options, opened.resumed);
  if (!store.ok()) return store.error();
  if (const Status there = serve && part ? check_part(manifest, dir, opened) : Status(Done{});
      !there.ok())
    return there.error();
  opened.store = *std::move(store);
  return opened;
}

}  // namespace

struct StoreOpening::Shared {
  std::atomic<bool> cancelled = false;
  std::atomic<std::uint64_t> done = 0, total = 0;  // bytes hashed
  LifeEvents* life = nullptr;  // the main thread's; null: nobody listens any more

  // The worker's, until there are descriptors and memory for it.
  Result<OpenedStore> open(const Manifest& manifest, const std::string& dir, bool serve,
                           const store::OpenOptions& options) {
    for (int tries = 1;; ++tries) {
      auto opened =
          within_memory("open " + dir, [&] { return open_store(manifest, dir, serve, options); });
      const bool again = !opened.ok() && opened.error().code == ErrorCode::kBusy;
      if (!again || tries == kOpeningsMax) return opened;
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, kOpenAgainAfter, [this] { return cancelled.load(); }))
        return opened;
    }
  }
  void cancel() {
    const std::lock_guard lock(mutex_);
    cancelled = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

StoreOpening::StoreOpening(LifeEvents& life) : shared_(std::make_shared<Shared>()) {
  shared_->life = &life;
}

StoreOpening::~StoreOpening() {
  shared_->life = nullptr;
  cancel();
}

bool StoreOpening::start(WorkerPool& pool, const SessionPlan& plan, std::vector<bool> chosen) {
  store::OpenOptions options;
  options.chosen = std::move(chosen);
  options.as = plan.as;
  options.mark = plan.mark;
  options.overwrite = plan.overwrite;
  options.repair = plan.repair;
  options.room_needed = plan.timeout != core::kNever;
  options.trust = plan.trust;
  options.hashed_since_ns = plan.hashed_since_ns;
  options.cancelled = [shared = shared_] { return shared->cancelled.load(); };
  options.progress = [shared = shared_](std::uint64_t done, std::uint64_t total) {
    shared->done = done;
    shared->total = total;
  };
  auto task = [shared = shared_, options = std::move(options), manifest = *plan.manifest,
               dir = plan.dir, serve = plan.serves()]() -> WorkerPool::Completion {
    auto opened =
        std::make_shared<Result<OpenedStore>>(shared->open(manifest, dir, serve, options));
    return [shared, opened] {
      if (LifeEvents* const life = std::exchange(shared->life, nullptr))
        life->store_opened(std::move(*opened));
    };
  };
  return pool.submit_long(std::move(task));
}

void StoreOpening::cancel() {
  shared_->cancel();
}

void StoreOpening::show(Console& console, const std::string& name) const {
  console.progress("checking " + name, shared_->done, shared_->total);
}

}  // namespace firn::app
