// A disk in memory for store tests: kills the process at any call, cuts the power, runs full.
//
// A change is a call that alters something (write, resize, hole, new name, rename, removal, sync).
// After a kill the disk holds all that was written, with the last write torn. After a power cut it
// holds what was synced, and of the rest what the seed decides: each 512-byte sector of an
// unsynced write on its own, a prefix of a file's unsynced size changes, and of the unsynced names
// any set that keeps their order within each folder.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "client/store/files.h"

namespace firn::store::test {

class MemoryDisk;
std::unique_ptr<Files> files_of(MemoryDisk& disk);

class MemoryDisk {
 public:
  // A process's view of the folder "/". The disk must outlive it.
  std::unique_ptr<Files> mount() { return files_of(*this); }

  std::uint64_t changes() const { return changes_; }
  std::uint64_t bytes_written() const { return bytes_written_; }  // into files

  // The change number `change` (0 based, counted from now) is torn; it and all calls after it fail.
  void kill_at(std::uint64_t change);
  bool killed() const { return killed_; }
  void restart();  // calls work again; what was written stands, locks are free
  void cut_power_and_restart(std::uint64_t seed);

  // Writes beyond so many bytes in all files fail with kDiskFull, half done. 0: no bound.
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  // Called where a file is about to be written, as if another thread did it then.
  void before_writes(std::function<void()> act) { before_write_ = std::move(act); }
  // The next syncs of files fail with kIo, and what they should have kept is lost at a power cut
  // unless it is written again.
  void fail_syncs(int count) { fail_syncs_after(0, count); }
  void fail_syncs_after(int good, int count) {
    good_syncs_ = good;
    failing_syncs_ = count;
  }
  // So do the next syncs of folders; names may be lost as if there had been none.
  void fail_folder_syncs(int count) { failing_folder_syncs_ = count; }
  // Bytes that are read once come from the disk, where the kernel takes what is in memory for
  // clean. How often that was.
  void pass_by_memory(bool pass) { pass_by_memory_ = pass; }
  std::uint64_t passed_by() const { return passed_by_; }
  void allow_holes(bool allowed) { holes_ = allowed; }
  // A failed sync also gives up what is in memory: reading finds the bytes of before.
  void evict_after_failed_sync(bool evict) { evict_ = evict; }
  // No RENAME_NOREPLACE: a file gets its new name first, then loses the old one.
  void rename_by_linking(bool links) { renames_by_linking_ = links; }
  // No permission to read this file.
  void refuse_reading(const std::string& path) { unreadable_ = path; }
  void refuse_attributes(bool refuse) { refuse_attributes_ = refuse; }
  // What its file system can do; to be set while no file is used.
  struct System {
    std::string mount_point = "/";  // nothing in it can be renamed to elsewhere, nor the other way
    bool links = true;
    bool locks = true;
    std::uint64_t file_bytes_max = UINT64_MAX;
    std::uint64_t free = UINT64_MAX;  // as it says; nothing counts it

    std::uint64_t device_of(const std::string& path) const {
      return path == mount_point || path.starts_with(mount_point + "/") ? 2 : 1;
    }
  } system;

  // Flips bits of a file's byte in place, also on the durable copy.
  void damage(const std::string& path, std::uint64_t offset, std::uint8_t flip);
  // Of modification and of the last change, of all files; 0 until then, and nothing alters it.
  void set_times(std::int64_t ns) { times_ns_ = ns; }
  bool exists(const std::string& path) const;
  std::uint64_t used() const;  // bytes, in all files
  std::vector<std::uint8_t> bytes_of(const std::string& path) const;
  std::vector<std::string> paths() const;                              // of files, in order
  void put(const std::string& path, std::vector<std::uint8_t> bytes);  // durable, with folders
  void erase(const std::string& path);
  void link(const std::string& path, const std::string& other) {  // durable
    const std::lock_guard lock(mutex_);
    names_[other] = durable_names_[other] = names_.at(path);
  }

 private:
  friend class MemoryFile;
  friend class MemoryFiles;
  friend class MemoryLock;

  struct Change {
    enum Kind { kWrite, kResize, kHole } kind;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  // new size of a resize, length of a hole
    std::vector<std::uint8_t> data;
  };
  static std::uint64_t new_inode() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }
  struct Node {
    bool folder = false;
    bool link = false;  // `data` is its target
    const std::uint64_t inode = new_inode();
    std::vector<std::uint8_t> data;
    std::vector<std::uint8_t> durable;
    std::vector<Change> unsynced;
  };
  using NodePtr = std::shared_ptr<Node>;
  using Names = std::map<std::string, NodePtr>;
  struct NameChange {
    std::string from;  // removed, if not empty
    std::string to;    // set to node, if not empty
    NodePtr node;
    std::set<std::string> folders() const;
  };

  enum class Verdict { kGo, kTorn, kDead };
  Verdict begin_change();  // with mutex_ held
  static void apply(std::vector<std::uint8_t>& data, const Change& change);
  static bool apply(Names& names, const NameChange& change);
  void change_names(NameChange change);
  void sync_folder(const std::string& folder);
  void lose_unsynced(Node& node, std::mt19937_64& random);
  std::uint64_t links_of(const NodePtr& node) const {
    return static_cast<std::uint64_t>(std::ranges::count(names_, node, &Names::value_type::second));
  }

  mutable std::mutex mutex_;
  Names names_;
  Names durable_names_;
  std::vector<NameChange> unsynced_names_;
  std::set<std::string> locked_;
  std::uint64_t changes_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t kill_at_ = UINT64_MAX;
  bool killed_ = false;
  std::function<void()> before_write_ = [] {};
  std::uint64_t capacity_ = 0;
  int good_syncs_ = 0;
  int failing_syncs_ = 0;
  int failing_folder_syncs_ = 0;
  bool holes_ = true;
  bool evict_ = false;
  bool pass_by_memory_ = false;
  std::uint64_t passed_by_ = 0;
  bool refuse_attributes_ = false;
  std::string unreadable_;
  bool renames_by_linking_ = false;
  std::int64_t times_ns_ = 0;
};

}  // namespace firn::store::test
