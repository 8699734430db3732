#include "client/store/posix_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <utility>

#include "client/store/claim_lock.h"
#include "client/store/direct_access.h"
#include "client/store/posix_file.h"
#include "proto/base/limits.h"

namespace firn::store {
namespace {

FileKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::kFile;
  if (S_ISDIR(mode)) return FileKind::kFolder;
  if (S_ISLNK(mode)) return FileKind::kLink;
  return FileKind::kOther;
}

// A descriptor of the folder below which everything is.
using Root = std::shared_ptr<const Descriptor>;

class PosixLock final : public Lock {
 public:
  PosixLock(Descriptor descriptor, Root root)
      : descriptor_(std::move(descriptor)), root_(std::move(root)) {}

 private:
  Descriptor descriptor_;  // closing it gives the lock back
  const Root root_;        // held open with it
};

// The folder that holds a path's last component.
struct Place {
  Root root;
  Descriptor opened;  // empty when the folder is the root
  int folder = -1;
  std::string leaf;
};

Result<Root> open_root(const std::string& folder) {
  Descriptor root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root) return Root(std::make_shared<const Descriptor>(std::move(root)));
  if (errno == ENOTDIR)
    return Error{ErrorCode::kExists, "open folder " + folder, "it is not a folder"};
  return error_from_errno("open folder " + folder, errno);
}

// Names below the folder are the content's: one that is no name, or too long, is one that this file
// system does not take.
Error failure(std::string operation, int error_number) {
  Error error = error_from_errno(std::move(operation), error_number);
  if (error.code == ErrorCode::kBadInput) error.code = ErrorCode::kUnsupported;
  return error;
}

class PosixFiles final : public Files {
 public:
  PosixFiles(std::string folder, std::shared_ptr<WriteWays> ways)
      : folder_(std::move(folder)), ways_(ways ? std::move(ways) : std::make_shared<WriteWays>()) {}

  std::string full_path(const std::string& path) const override {
    if (path.empty()) return folder_;
    return folder_.back() == '/' ? folder_ + path : folder_ + "/" + path;
  }

  std::string moved_to() const override {
    const Result<Root> top = root();
    struct stat held, named;
    if (!top || ::fstat((*top)->number(), &held) != 0) return {};
    if (::stat(folder_.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
        held.st_ino == named.st_ino)
      return {};
    std::error_code failed;
    const std::string link = "/proc/self/fd/" + std::to_string((*top)->number());
    return std::filesystem::read_symlink(link, failed).string();
  }

  Result<std::shared_ptr<File>> open(const std::string& path, Open how) override {
    const std::string operation = "open " + full_path(path);
    Result<Place> place = walk(path, operation);
    if (!place) return place.error();
    int flags = how == Open::kRead ? O_RDONLY : O_RDWR;
    if (how == Open::kCreate || how == Open::kMake) flags |= O_CREAT;
    if (how == Open::kMake) flags |= O_EXCL;
    // O_NONBLOCK: opening a FIFO must not wait for its other end.
    flags |= O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    Descriptor opened(::openat(place->folder, place->leaf.c_str(), flags, 0600));
    if (!opened && errno == EEXIST) return in_the_way(operation, "something else stands there");
    if (!opened) return explain(operation, errno, place->folder, place->leaf);
    struct stat status;
    if (::fstat(opened.number(), &status) != 0) return failure(operation, errno);
    if (!S_ISREG(status.st_mode)) return in_the_way(operation, "is not a regular file");
    if (how != Open::kRead) DirectAccess::advise(opened.number());
    return make_posix_file(std::move(opened), full_path(path), ways_);
  }

  Result<FileStat> stat(const std::string& path) override {
    const std::string operation = "examine " + full_path(path);
    struct stat status;
    if (path.empty()) {
      const Result<Root> top = root();
      if (!top) return top.error();
      if (::fstat((*top)->number(), &status) != 0) return failure(operation, errno);
    } else {
      Result<Place> place = walk(path, operation);
      if (!place) {
        if (place.error().code == ErrorCode::kNotFound) return FileStat{};
        return place.error();
      }
      if (::fstatat(place->folder, place->leaf.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return FileStat{};
        return failure(operation, errno);
      }
    }
    return stat_of(status, kind_of(status.st_mode));
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    const std::string operation = "read folder " + full_path(path);
    Result<Descriptor> folder = open_folder(path, operation, O_RDONLY);
    if (!folder) return folder.error();
    DIR* stream = ::fdopendir(folder->number());
    if (stream == nullptr) return failure(operation, errno);
    folder->release();  // the stream closes it
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    const int error_number = errno;
    ::closedir(stream);
    if (error_number != 0) return failure(operation, error_number);
    return names;
  }

  Result<bool> make_folder(const std::string& path, std::uint32_t mode) override {
    const std::string operation = "make folder " + full_path(path);
    Result<Place> place = walk(path, operation);
    if (!place) return place.error();
    if (::mkdirat(place->folder, place->leaf.c_str(), mode) == 0) return true;
    if (errno != EEXIST) return failure(operation, errno);
    const Descriptor there(::openat(place->folder, place->leaf.c_str(), kWalkFlags));
    if (!there) return explain(operation, errno, place->folder, place->leaf);
    return false;
  }

  Status make_link(const std::string& path, const std::string& target) override {
    const std::string operation = "make link " + full_path(path);
    Result<Place> place = walk(path, operation);
    if (!place) return place.error();
    if (::symlinkat(target.c_str(), place->folder, place->leaf.c_str()) == 0) return Done{};
    if (errno == EEXIST) return in_the_way(operation, "something else stands there");
    if (errno == EPERM)  // symlink(2)
      return Error{ErrorCode::kUnsupported, operation, "the file system has no symbolic links"};
    return failure(operation, errno);
  }

  Result<std::string> read_link(const std::string& path) override {
    const std::string operation = "read link " + full_path(path);
    Result<Place> place = walk(path, operation);
    if (!place) return place.error();
    std::string target(limits::kPathBytesMax + 1, '\0');
    const ssize_t bytes =
        ::readlinkat(place->folder, place->leaf.c_str(), target.data(), target.size());
    if (bytes < 0) return failure(operation, errno);
    target.resize(static_cast<std::size_t>(bytes));
    return target;
  }

  Status rename(const std::string& from, const std::string& to, bool replace) override {
    const std::string operation = "rename " + full_path(from) + " to " + full_path(to);
    Result<Place> source = walk(from, operation);
    if (!source) return source.error();
    Result<Place> target = walk(to, operation);
    if (!target) return target.error();
    int result = ::renameat2(source->folder, source->leaf.c_str(), target->folder,
                             target->leaf.c_str(), replace ? 0 : RENAME_NOREPLACE);
    // The file system (NFS, for one) does not know RENAME_NOREPLACE.
    if (result != 0 && !replace && (errno == EINVAL || errno == ENOSYS))
      result = rename_by_linking(*source, *target);
    if (result == 0) return Done{};
    if (errno == EEXIST || errno == EISDIR || errno == ENOTEMPTY || errno == ENOTDIR) {
      return in_the_way("rename to " + full_path(to), "something else stands there");
    }
    if (errno == EBUSY)
      return in_the_way("rename to " + full_path(to), "a file system is mounted there");
    return failure(operation, errno);
  }

  Result<bool> link_from(const std::string& source, const std::string& path) override {
    const std::string operation = "link " + full_path(path) + " to " + source;
    Result<Place> place = walk(path, operation);
    if (!place) return place.error();
    if (::linkat(AT_FDCWD, source.c_str(), place->folder, place->leaf.c_str(), 0) == 0) return true;
    if (errno == EEXIST) return in_the_way(operation, "something else stands there");
    if (errno == EXDEV || errno == EPERM || errno == EMLINK || errno == EOPNOTSUPP ||
        errno == ENOSYS)
      return false;
    return failure(operation, errno);
  }

  Status remove(const std::string& path) override {
    const std::string operation = "remove " + full_path(path);
    Result<Place> place = walk(path, operation);
    if (!place) {
      if (place.error().code == ErrorCode::kNotFound) return Done{};
      return place.error();
    }
    if (::unlinkat(place->folder, place->leaf.c_str(), 0) != 0 && errno != ENOENT) {
      return failure(operation, errno);
    }
    return Done{};
  }

  Result<bool> remove_folder(const std::string& path) override {
    const std::string operation = "remove folder " + full_path(path);
    Result<Place> place = walk(path, operation);
    if (!place) {
      if (place.error().code == ErrorCode::kNotFound) return false;
      return place.error();
    }
    if (::unlinkat(place->folder, place->leaf.c_str(), AT_REMOVEDIR) == 0) return true;
    if (errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST) return false;
    return failure(operation, errno);
  }

  Result<bool> set_folder_time(const std::string& path, std::int64_t modified_ns) override {
    const std::string operation = "set the time of " + full_path(path);
    Result<Descriptor> folder = open_folder(path, operation, O_RDONLY);
    if (!folder) return folder.error();
    return set_descriptor_attributes(folder->number(), std::nullopt, modified_ns, operation);
  }

  Status sync_folder(const std::string& path) override {
    const std::string operation = "sync folder " + full_path(path);
    Result<Descriptor> folder = open_folder(path, operation, O_RDONLY);
    if (!folder) return folder.error();
    // EINVAL: a file system that has no such call for folders, and keeps them in its own way.
    if (::fsync(folder->number()) != 0 && errno != EINVAL) {
      return failure(operation, errno);
    }
    return Done{};
  }

  Result<std::uint64_t> free_bytes(const std::string& path) override {
    const std::string operation = "examine the file system of " + full_path(path);
    const Result<Descriptor> folder = open_folder(path, operation, O_RDONLY);
    if (!folder) return folder.error();
    struct statvfs status;
    if (::fstatvfs(folder->number(), &status) != 0) return failure(operation, errno);
    if (status.f_blocks == 0) return UINT64_MAX;  // it keeps no such count
    const auto blocks = ::geteuid() == 0 ? status.f_bfree : status.f_bavail;
    return std::uint64_t{blocks} * status.f_frsize;
  }

  Status sync_all() override {
    const Result<Root> top = root();
    if (!top) return top.error();
    if (::syncfs((*top)->number()) != 0) {
      return failure("sync the file system of " + folder_, errno);
    }
    return Done{};
  }

  Result<std::unique_ptr<Lock>> lock(const std::string& path) override {
    const std::string operation = "lock " + full_path(path);
    for (;;) {
      Result<Place> place = walk(path, operation);
      if (!place) return place.error();
      Descriptor opened(::openat(place->folder, place->leaf.c_str(),
                                 O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
      if (!opened) return explain(operation, errno, place->folder, place->leaf);
      while (::flock(opened.number(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        if (errno == EWOULDBLOCK) return std::unique_ptr<Lock>();
        Error error = failure(operation, errno);
        if (error.code != ErrorCode::kUnsupported) return error;
        return take_claim(std::make_unique<PosixFiles>(folder_, ways_), path + ".claims");
      }
      // Its last owner may have removed the file between our two calls; then we hold a lock on
      // nothing, and the next one would make a file of its own.
      struct stat ours, there;
      if (::fstat(opened.number(), &ours) != 0) return failure(operation, errno);
      if (::fstatat(place->folder, place->leaf.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
          ours.st_dev == there.st_dev && ours.st_ino == there.st_ino) {
        const std::lock_guard guard(mutex_);
        root_ = place->root;
        return std::unique_ptr<Lock>(new PosixLock(std::move(opened), place->root));
      }
    }
  }

 private:
  static constexpr int kWalkFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

  static Error in_the_way(std::string operation, std::string detail) {
    return {ErrorCode::kExists, std::move(operation), std::move(detail)};
  }

  // As renameat2 with RENAME_NOREPLACE, but that a kill may leave both names, which the next call
  // for the two makes one.
  static int rename_by_linking(const Place& from, const Place& to) {
    const char* old_name = from.leaf.c_str();
    const char* new_name = to.leaf.c_str();
    const int linked = ::linkat(from.folder, old_name, to.folder, new_name, 0);
    if (linked != 0 && errno != EEXIST) {
      if (errno == ENOENT || errno == EXDEV) return -1;
      // A folder, or a file system without hard links: look first. Something may appear there
      // between the two calls; nothing better can be had.
      struct stat status;
      if (::fstatat(to.folder, new_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return ::renameat(from.folder, old_name, to.folder, new_name);
      errno = EEXIST;
      return -1;
    }
    if (linked != 0 && !same_file(from, to)) {
      errno = EEXIST;
      return -1;
    }
    return ::unlinkat(from.folder, old_name, 0);
  }

  static bool same_file(const Place& one, const Place& other) {
    struct stat a, b;
    return ::fstatat(one.folder, one.leaf.c_str(), &a, AT_SYMLINK_NOFOLLOW) == 0 &&
           ::fstatat(other.folder, other.leaf.c_str(), &b, AT_SYMLINK_NOFOLLOW) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  }

  // Links and wrong kinds of things are told apart from other failures, by name.
  static Error explain(const std::string& operation, int error_number, int folder,
                       const std::string& name) {
    if (error_number == ELOOP || error_number == ENOTDIR || error_number == EISDIR ||
        error_number == ENXIO) {
      struct stat status;
      if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISLNK(status.st_mode)) {
          return in_the_way(operation, "\"" + name +
                                           "\" is a symbolic link, which is not followed here; "
                                           "remove it or choose another folder");
        }
        return in_the_way(operation, "\"" + name + "\" is " +
                                         (S_ISDIR(status.st_mode)   ? "a folder"
                                          : S_ISREG(status.st_mode) ? "a file, not a folder"
                                                                    : "not a regular file"));
      }
    }
    return failure(operation, error_number);
  }

  // Where a lock is held, the folder in which that is; else the one that has its name now. So what
  // is only read, of which a process may have thousands, holds no descriptor.
  Result<Root> root() const {
    {
      const std::lock_guard guard(mutex_);
      if (Root held = root_.lock()) return held;
    }
    return open_root(folder_);
  }

  Result<Place> walk(const std::string& path, const std::string& operation) const {
    Result<Root> top = root();
    if (!top) return top.error();
    Place place;
    place.root = *std::move(top);
    place.folder = place.root->number();
    std::size_t begin = 0;
    for (;;) {
      const std::size_t end = path.find('/', begin);
      if (end == std::string::npos) break;
      const std::string name = path.substr(begin, end - begin);
      Descriptor next(::openat(place.folder, name.c_str(), kWalkFlags));
      if (!next) return explain(operation, errno, place.folder, name);
      place.opened = std::move(next);
      place.folder = place.opened.number();
      begin = end + 1;
    }
    place.leaf = path.substr(begin);
    return place;
  }

  Result<Descriptor> open_folder(const std::string& path, const std::string& operation,
                                 int flags) const {
    flags |= O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if (path.empty()) {
      const Result<Root> top = root();
      if (!top) return top.error();
      Descriptor opened(::openat((*top)->number(), ".", flags));
      if (!opened) return failure(operation, errno);
      return opened;
    }
    Result<Place> place = walk(path, operation);
    if (!place) return place.error();
    Descriptor opened(::openat(place->folder, place->leaf.c_str(), flags));
    if (!opened) return explain(operation, errno, place->folder, place->leaf);
    return opened;
  }

  mutable std::mutex mutex_;
  std::weak_ptr<const Descriptor> root_;
  const std::string folder_;
  const std::shared_ptr<WriteWays> ways_;
};

// Like mkdir -p; links are followed, since the user named this folder.
Status make_named_folder(const std::string& folder) {
  for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string part = folder.substr(0, end);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) {
      // On a read-only file system mkdir of a folder that stands may say so before EEXIST.
      const int error_number = errno;
      struct stat status;
      if (::stat(part.c_str(), &status) != 0) {
        return error_from_errno("make folder " + part, error_number);
      }
    }
    if (end == std::string::npos) return Done{};
  }
}

}  // namespace

Result<std::unique_ptr<Files>> open_posix_files(const std::string& folder, bool make,
                                                std::shared_ptr<WriteWays> ways) {
  const std::string name = folder.empty() ? "." : folder;
  Result<Root> root = open_root(name);
  if (!root && root.error().code == ErrorCode::kNotFound && make) {
    if (Status made = make_named_folder(name); !made) return made.error();
    root = open_root(name);
  }
  if (!root) return root.error();
  return std::unique_ptr<Files>(new PosixFiles(name, std::move(ways)));
}

}  // namespace firn::store
