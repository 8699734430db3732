// File operations below one folder: all that the store asks of an operating system.
//
// Paths are relative to that folder, '/' between components, "" for the folder itself. No symbolic
// link below the folder is ever followed: a component that is one makes the call fail with kExists
// and the path. Production uses PosixFiles; tests inject faults and power cuts behind the same
// interface.
//
// All members may be called from any thread, also at once. Errors name operation and full path.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proto/base/result.h"

namespace firn::store {

enum class FileKind { kMissing, kFile, kFolder, kLink, kOther };

struct FileStat {
  FileKind kind = FileKind::kMissing;
  std::uint64_t bytes = 0;
  std::uint64_t links = 0;       // 0: open, but removed from its folder
  std::int64_t modified_ns = 0;  // since 1970-01-01 UTC
  std::uint64_t inode = 0;       // another file has another, on one file system
  std::int64_t changed_ns = 0;   // ctime: also when a name, mode or time changed; 0: not kept
  std::uint64_t allocated = 0;  // bytes that the disk has given to it: less than `bytes` with holes
  std::uint32_t owner = 0;      // a user's number
  std::uint32_t mode = 0;       // with its kind, as in stat(2)
};

// What a manifest's mode may give: it may come from a stranger, and must make nothing writable for
// every user of the machine.
inline std::uint32_t allowed_mode(std::uint32_t mode) {
  return mode & 0775;
}

// Whether a file system may have kept the one for the other: FAT keeps times to two seconds.
inline bool near_times(std::int64_t a_ns, std::int64_t b_ns) {
  const auto [least, most] = std::minmax(a_ns, b_ns);
  return std::uint64_t(most) - std::uint64_t(least) <= 2'000'000'000;
}

// An open regular file; closed by the destructor.
class File {
 public:
  virtual ~File() = default;

  // Bytes read; fewer than out.size() only at the end of the file.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> out) const = 0;
  // The same of bytes that are not likely to be read again soon: the page cache may be left as it
  // is.
  virtual Result<std::size_t> read_once_at(std::uint64_t offset,
                                           std::span<std::uint8_t> out) const {
    return read_at(offset, out);
  }
  // All of it; after an error any part may have been written.
  virtual Status write_at(std::uint64_t offset, std::span<const std::uint8_t> data) = 0;
  // Cut, or longer by a hole.
  virtual Status resize(std::uint64_t bytes) = 0;
  // Whether a file of this one's file system may be as large; else kUnsupported. Changes nothing.
  virtual Status check_size(std::uint64_t bytes) const {
    (void)bytes;
    return Done{};
  }
  // Gives the range's disk blocks back and makes it read as zeros; false if the file system cannot.
  virtual Result<bool> punch_hole(std::uint64_t offset, std::uint64_t bytes) = 0;
  // Data and size durable (fdatasync); the file's name is its folder's (Files::sync_folder).
  virtual Status sync() = 0;
  // False if the file system does not store times of folders, or refuses this user.
  virtual Result<bool> set_attributes(std::uint32_t mode, std::int64_t modified_ns) = 0;
  virtual Result<FileStat> stat() const = 0;
};

// Held until destroyed.
class Lock {
 public:
  virtual ~Lock() = default;
};

class Files {
 public:
  enum class Open {
    kRead,
    kWrite,
    kCreate,  // for writing; made (mode 0600) if missing
    kMake,  // likewise; kExists if anything has the name, or one that the file system takes for it
  };

  virtual ~Files() = default;

  // kExists if something else than a regular file stands there.
  virtual Result<std::shared_ptr<File>> open(const std::string& path, Open how) = 0;
  // kMissing is a kind, not an error; also where a parent is missing. (A parent that is a link or a
  // file is kExists, as everywhere.)
  virtual Result<FileStat> stat(const std::string& path) = 0;
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
  // One folder below one that stands, with what the umask or the default ACL of that one leaves of
  // `mode`. False if a folder has its name, or one that the file system takes for the same; kExists
  // if something else has.
  virtual Result<bool> make_folder(const std::string& path, std::uint32_t mode) = 0;
  // A symbolic link with this very target, which nothing here ever follows. kExists if anything
  // stands there.
  virtual Status make_link(const std::string& path, const std::string& target) = 0;
  virtual Result<std::string> read_link(const std::string& path) = 0;
  // Of files, links and folders. Atomic, but that without `replace` a kill may leave both names
  // where the file system can only link and unlink; the same call then takes `from` away. kExists
  // if `to` stands as another file and `replace` is false, or if `to` is a folder; kUnsupported if
  // the two are on different file systems.
  virtual Status rename(const std::string& from, const std::string& to, bool replace) = 0;
  // `path` becomes another name of the file `source`, a full path. False if the file system has no
  // such names, or not for this file: it is on another one, or another account's. kExists if
  // anything stands there.
  virtual Result<bool> link_from(const std::string& source, const std::string& path);
  // A file or link; one that is missing is fine.
  virtual Status remove(const std::string& path) = 0;
  // An empty folder. False if it is not empty or not there.
  virtual Result<bool> remove_folder(const std::string& path) = 0;
  // False if the file system keeps no such thing, or not for us.
  virtual Result<bool> set_folder_time(const std::string& path, std::int64_t modified_ns) = 0;
  // The folder's entries durable.
  virtual Status sync_folder(const std::string& path) = 0;
  // What may yet be written to the file system that `path` is on; kNotFound if nothing is there.
  virtual Result<std::uint64_t> free_bytes(const std::string& path);
  // Everything on the file system durable; cheaper than many single calls.
  virtual Status sync_all() = 0;
  // Makes the file if it is missing. Null if another process (or another Lock) holds it.
  // Where the file system has no locks, a claim beside it (claim_lock.h) takes their place.
  virtual Result<std::unique_ptr<Lock>> lock(const std::string& path) = 0;

  // How `path` is called in errors.
  virtual std::string full_path(const std::string& path) const = 0;
  // Where the folder itself is, if it has been moved since a lock in it was taken that is still
  // held; else empty.
  virtual std::string moved_to() const { return {}; }
};

// "a/b/c" -> "a/b"; "a" -> "".
std::string parent_of(const std::string& path);

// With parents, all with mode 0777; those that stand are kept.
Status make_folders(Files& files, const std::string& path);

// Writes `path` as a whole, durably: at any kill or power cut it has its old bytes or the new ones
// (its folder's entry is the caller's to sync). Uses `path`.new.
Status write_whole_file(Files& files, const std::string& path, std::span<const std::uint8_t> data);

// Reads at most `bytes_max` bytes; kCorrupt if there are more.
Result<std::vector<std::uint8_t>> read_whole_file(Files& files, const std::string& path,
                                                  std::uint64_t bytes_max);

// Makes `path`, or replaces the file there, with the `bytes` first bytes of `from`; zeros become
// holes, also where `from` is shorter. Durable but for its folder's entry. The open copy.
Result<std::shared_ptr<File>> copy_file(Files& files, const File& from, std::uint64_t bytes,
                                        const std::string& path);

// Whether two files have the same bytes.
Result<bool> same_bytes(Files& files, const std::string& one, const std::string& other);

// Removes a file or a folder with all that is in it, never following links. Missing is fine.
// `cancelled` may be empty; then kCancelled, with a part removed.
Status remove_tree(Files& files, const std::string& path,
                   const std::function<bool()>& cancelled = {});

}  // namespace firn::store
