// One content of the daemon: what is kept of it, and the session that it has while it is active.
//
//   active --pause--> session leaves --> paused --resume--> active
//   active --seeding is over--> finished        active --an error--> failed, until it is resumed
//   active --its place is another's--> session leaves --> queued --a place is free--> active
//   active --its work folder is away--> session leaves --> waiting --it is back--> active
//   any --move--> session leaves --> (files moved, relocation.h) --> as before
//   any --remove--> session leaves --> (files deleted) --> gone
//
// Main thread. A change is written to the store before it is answered; where that fails, as the
// disk is full, it holds in memory and is written as soon as that can be done.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/app/console/events.h"
#include "client/app/console/progress_bar.h"
#include "client/app/daemon/content_facts.h"
#include "client/app/daemon/content_queue.h"
#include "client/app/daemon/contents_store.h"
#include "client/app/daemon/file_stamp.h"
#include "client/app/daemon/hooks.h"
#include "client/app/daemon/kept_record.h"
#include "client/app/daemon/relocation.h"
#include "client/app/daemon/seeding_record.h"
#include "client/app/daemon/transfer_limits.h"
#include "client/app/daemon/work_watch.h"
#include "client/app/daemon/worker_task.h"
#include "client/app/driver/peer_driver.h"

namespace firn::app {

// What a session is made from what is kept. Errors: as its source, which may be damaged or need
// more than is known.
using PlanContent = std::function<Result<SessionPlan>(const KeptContent&)>;

// A limit in an answer, in `unit`s; null: there is none.
Json limit_or_null(std::int64_t value, std::int64_t unit = 1);

// What all contents of a daemon share; outlives them.
struct DaemonHost {
  PeerDriver& driver;
  ContentsStore& store;
  TransferLimits& limits;
  // How long a download that has a place may stand still while others wait.
  core::TimeUs queue_patience;
  Console& console;
  Hooks& hooks;
  // Where a content goes that is added without a folder; empty: there is no such place.
  const std::string& downloads;
  PlanContent plan;
  // Where peers reach this process.
  std::function<std::vector<Address>()> addresses;
};

class DaemonContent {
 public:
  // `kept` is in the store.
  DaemonContent(const DaemonHost& host, KeptContent kept);

  const ContentId& id() const { return kept_->id; }
  const std::string& name() const { return name_; }
  // It is forgotten; the session that it had may still leave.
  bool removed() const { return kept_.forgotten(); }
  // Nothing is left of it: it may be destroyed.
  bool gone() const { return gone_; }

  // Errors: kBusy (it is being removed or moved).
  Status pause();
  // `afresh`: begins again though what it has had is away; kBadInput if it is not.
  Status resume(bool afresh);
  Status remove(bool delete_data);
  // Errors besides: as check_move()'s and ContentsStore's; nothing has changed then.
  // `as`: another name there; empty: the one that it has.
  Status move(const std::string& folder, const std::string& as);
  // Errors besides: kBadInput (it is only served, or whole, or as content::chosen_files()).
  Status choose(const content::FileChoice& files);
  // It fails, until it is resumed. `said`: its session has told people.
  void fail(const Error& error, bool said = false);
  Status limit(const LimitChange& change);
  // The daemon's limits have changed.
  void limits_changed();
  // Its row with the present counts, if they differ from those in the store; `manifest` is empty.
  // The caller writes it, and calls record->written() afterwards.
  struct Unkept {
    KeptContent counted;
    KeptRecord* record;
  };
  std::optional<Unkept> unkept();

  // Its place among those that wait; lasting, as all changes.
  Status rank(std::int64_t priority, std::int64_t position);
  Status swap_position(DaemonContent& other) { return kept_.swap_position(other.kept_); }
  QueueEntry queue_entry() const;
  void give_place(const QueuePlace& place) { place_ = place; }

  // Starts, if it may, and ends its session as is due. Whether its queue_entry() has changed.
  bool turn(bool may_start);
  // When turn() is due: not before something is asked of it, now and then, or soon.
  enum class Due { kNever, kAtTimes, kSoon };
  Due due() const;

  // It has no session yet, or none while it moves, but is about to: who asks for it is to come back
  // soon. Never of a private content, of which a caller that has only its id must learn nothing.
  bool opens() const;

  // The bytes of its file; empty until they are known.
  const std::string& manifest() const { return kept_->manifest; }
  // What a command is told of it.
  HookSubject subject() const { return {kept_->id, name_, kept_->folder}; }

  // How it stands; no secrets.
  Json summary() const;
  Json details() const;
  // With their numbers. Errors: kNotFound (its manifest has not come yet).
  Result<Json> files() const;
  // As rpc.md names it.
  std::string state() const;
  // Its connected peers, and those that are banned.
  Json peers() const;

 private:
  Status change(const KeptContent& to);
  void act(bool may_start);
  void watch();
  void count();
  void learn();
  void start();
  void start_session(SessionPlan plan, const Result<FileStamp>& stamp);
  void keep_stamp(const Result<FileStamp>& stamp);
  void delete_files();
  void leave();

  const DaemonHost& host_;
  std::string name_;
  KeptRecord kept_;
  std::uint64_t content_bytes_ = 0;  // 0: not known
  std::optional<ChosenPart> part_;   // null: all, as far as is known
  bool private_ = false;
  ContentSession* session_ = nullptr;
  std::weak_ptr<const void> files_;  // of the last session: not expired while it is used
  ProgressFigures figures_;          // of the last session, when it is gone
  SeedingRecord record_;
  std::string failure_;
  core::TimeUs learns_at_ = 0;  // not before, as the store could not be written
  QueueProgress progress_;
  QueuePlace place_;
  QueueEntry told_;       // what turn() has reported
  bool leaving_ = false;  // the session was told to end
  bool gone_ = false;
  bool damaged_ = false;   // the command for failures was run for what the session serves
  bool stamped_ = false;   // the files of the download were looked at when it was complete
  std::string stamp_;      // of the files that the session serves, to be kept once they are right
  WorkWatch work_;         // of kept_
  Relocation relocation_;  // of kept_
  WorkerTask task_;        // looks at its files, or deletes them
};

}  // namespace firn::app
