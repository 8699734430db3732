// Folders in which files with manifests (.firn) and links (.link, one a line) appear, to be added.
//
// Each folder is looked at every kInterval, on a worker; one that is not there is waited for. A
// file is read once two looks have found it the same, so that one that is being written is left
// alone. One that was added is renamed to NAME.added, one that is refused to NAME.invalid, and the
// log says why; a name that is taken gets a number. What is wrong for a while only, such as a full
// disk, is tried again.
//
// Main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/app/console/console.h"
#include "client/app/daemon/rpc.h"
#include "client/app/daemon/worker_task.h"
#include "client/core/base/types.h"
#include "proto/base/result.h"

namespace firn::app {

struct WatchedFolder {
  std::string folder;  // absolute
  std::string output;  // absolute: where the contents go
};

// Whether it can be watched. Errors: kBadInput (no absolute paths, or one and the same: what
// arrives would be read itself).
Status check_watched(const WatchedFolder& watched);

// A file of a watched folder, as it was looked at.
struct WatchedFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;

  bool operator==(const WatchedFile&) const = default;
};

// The regular files in `folder` that have one of the two suffixes, and are not hidden. Blocks; any
// thread. Errors: as errno says.
Result<std::vector<WatchedFile>> files_to_add(const std::string& folder);

class FolderWatch {
 public:
  static constexpr core::TimeUs kInterval = core::kSecond;
  // Each takes the main thread for some milliseconds, in which nobody else is served. If there is
  // more to add, the next look follows at once.
  static constexpr std::size_t kAddsPerLook = 16;
  // How long a file may be no whole manifest or link before it is refused: a program may write it
  // with pauses.
  static constexpr core::TimeUs kPatience = 5 * core::kSecond;

  // Adds a content; as DaemonMethods::add().
  using Add = std::function<Result<Json>(const AddRequest&)>;
  // Both outlive it.
  FolderWatch(WorkerPool& workers, Console& console, Add add)
      : workers_(workers), console_(console), add_(std::move(add)) {}

  // From now on these.
  void set(std::vector<WatchedFolder> folders);
  const std::vector<WatchedFolder>& folders() const { return folders_; }

  // Looks if it is time to; when it wants to be called again.
  core::TimeUs turn(core::TimeUs now);

 private:
  using Looks = std::vector<std::pair<WatchedFolder, Result<std::vector<WatchedFile>>>>;
  struct Known {
    WatchedFile file;
    core::TimeUs since = 0;     // it is as it is
    core::TimeUs again_at = 0;  // not before
    std::size_t lines = 0;      // that were added, of links; the next look goes on
    Status first = Done{};      // the first failure of most weight among them
  };
  void looked(const Looks& looks);
  void take(const WatchedFolder& watched, const WatchedFile& file);
  void try_to_add(const WatchedFolder& watched, Known& known);
  bool add_file(const WatchedFolder& watched, Known& known);
  void rename(const WatchedFolder& watched, const std::string& suffix, Known& known);

  WorkerPool& workers_;
  Console& console_;
  const Add add_;
  std::vector<WatchedFolder> folders_;
  std::map<std::string, Known> files_;          // by full path
  std::map<std::string, std::string> missing_;  // folders that could not be read, and why
  core::TimeUs now_ = 0;                        // when the last look began
  std::size_t adds_left_ = 0;                   // of kAddsPerLook
  core::TimeUs look_at_ = 0;
  WorkerTask task_;
};

}  // namespace firn::app
