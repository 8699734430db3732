// What the daemon remembers of a content from run to run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/app/daemon/limit_values.h"
#include "client/content/file_choice.h"
#include "proto/base/ids.h"

namespace firn::app {

struct KeptContent {
  enum class Kind {
    kDownload,  // into `folder`
    kServe,     // what stands in `folder`
  };
  // How far it is on its way to another folder (content_move.h).
  enum class Move {
    kNone,
    kStage,  // from `folder` to `other_folder`
    kPlace,  // likewise
    kClear,  // it is in `folder`, and what it left in `other_folder` is deleted
  };
  ContentId id;
  Kind kind = Kind::kDownload;
  std::string link;      // with its secret, for nobody to see; empty: it was added as a manifest
  std::string manifest;  // the bytes of its file; empty until they are known
  std::string folder;    // absolute
  std::string as;        // as content::ContentPlace's
  std::string seeding;   // how long to stay when complete, as parse_seed_policy() takes it
  bool paused = false;
  bool seeded = false;    // it has stayed as long as `seeding` says
  bool removing = false;  // with its files, which takes a while
  // The program that added it had just read the files: with the sizes and times of the manifest
  // they are right.
  bool trusted = false;
  std::string stamp;  // of the files when they were known to be right (file_stamp.h)
  // Of the work folder of a download that is not whole (client/store/work_mark.h), noted when it
  // was first open; empty: nothing of it has been on the disk.
  std::string mark;
  std::int64_t added_at = 0;        // seconds since 1970
  std::int64_t finished_at = 0;     // when what is chosen was complete; 0: not yet
  LimitValues limits;               // its own
  std::int64_t priority = 0;        // 1: before others, -1: after them
  std::int64_t position = 0;        // in the queue, among those of its priority: small ones first
  std::uint64_t uploaded = 0;       // by all its sessions; written when one ends, and at intervals
  std::int64_t seeded_seconds = 0;  // likewise, of being complete and served
  Move move = Move::kNone;
  std::string other_folder, other_as;  // empty unless it moves
  bool overwrite = false;              // of a download, as store::OpenOptions has them
  bool repair = false;
  content::FileChoice files;         // of a download; empty: all
  std::vector<std::string> origins;  // given by hand, with their passwords, for nobody to see
  bool no_origin = false;            // none is used

  // What bears the content's name in its folder is its own. A download's work folder does not tell:
  // it is gone if the daemon was killed after the files got their names, before that was noted.
  bool begun() const { return finished_at != 0 || !mark.empty(); }
};

}  // namespace firn::app
