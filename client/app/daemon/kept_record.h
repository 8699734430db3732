// What is kept of one content, in memory and in the store. A change that must not be lost is
// refused where the store cannot take it; what a user asked for holds at once, and is written as
// soon as that can be done.
//
// Main thread.
#pragma once

#include <string>

#include "client/app/console/console.h"
#include "client/app/daemon/contents_store.h"
#include "client/app/daemon/kept_content.h"
#include "client/app/runtime/event_loop.h"

namespace firn::app {

class KeptRecord {
 public:
  // `kept` is in the store. `name`, for messages, and the others outlive it.
  KeptRecord(ContentsStore& store, Console& console, const EventLoop& loop, const std::string& name,
             KeptContent kept)
      : store_(store), console_(console), loop_(loop), name_(name), kept_(std::move(kept)) {}
  // Tries once more to write what could not be written.
  ~KeptRecord();
  KeptRecord(const KeptRecord&) = delete;
  KeptRecord& operator=(const KeptRecord&) = delete;

  const KeptContent& operator*() const { return kept_; }
  const KeptContent* operator->() const { return &kept_; }
  // The store has it no more, or shall not.
  bool forgotten() const { return forgotten_; }
  // The store has taken the last change.
  bool saved() const { return !unsaved_; }

  // Errors: as ContentsStore's; nothing has changed then.
  Status put(KeptContent to);
  // The store has its counts.
  void written(const KeptContent& to) {
    kept_.uploaded = to.uploaded;
    kept_.seeded_seconds = to.seeded_seconds;
  }
  Status put_manifest(const std::string& manifest);
  Status swap_position(KeptRecord& other);
  // Holds at once, also where it is written later.
  void set(KeptContent to);
  void forget();
  // Writes what could not be written, when that is due.
  void retry();

 private:
  void save();

  ContentsStore& store_;
  Console& console_;
  const EventLoop& loop_;
  const std::string& name_;
  KeptContent kept_;
  bool forgotten_ = false;
  bool unsaved_ = false;
  core::TimeUs save_at_ = 0;  // not before
};

}  // namespace firn::app
