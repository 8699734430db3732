#include "client/store/posix_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <mutex>

#include "client/content/file_time.h"
#include "client/store/direct_access.h"

namespace firn::store {
namespace {

class PosixFile final : public File {
 public:
  PosixFile(Descriptor descriptor, std::string path, std::shared_ptr<WriteWays> ways)
      : descriptor_(std::move(descriptor)), path_(std::move(path)), ways_(std::move(ways)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = ::pread(descriptor_.number(), out.data() + done, out.size() - done,
                                  static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return error_from_errno("read " + path_, errno);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  Result<std::size_t> read_once_at(std::uint64_t offset,
                                   std::span<std::uint8_t> out) const override {
    if (out.size() < kLargeWrite || ways_ == nullptr || !ways_->prefers_direct() ||
        !DirectAccess::fits(offset, out) ||
        DirectAccess::lies_in_cache(descriptor_.number(), offset, out.size()))
      return read_at(offset, out);
    std::size_t done = 0;
    const DirectAccess::Outcome outcome = direct_.read(descriptor_.number(), offset, out, done);
    if (outcome.kind != DirectAccess::Outcome::kDone) return read_at(offset, out);
    // The end of the file, most often. It need not be: a read may return early.
    const Result<std::size_t> rest = read_at(offset + done, out.subspan(done));
    if (!rest) return rest.error();
    return done + *rest;
  }

  Status write_at(std::uint64_t offset, std::span<const std::uint8_t> data) override {
    if (data.size() < kLargeWrite || ways_ == nullptr || !DirectAccess::fits(offset, data))
      return write_cached(offset, data);
    if (ways_->next() == WriteWays::Way::kDirect) return write_direct(offset, data);
    return write_cached(offset, data, ways_.get());
  }

  Status resize(std::uint64_t bytes) override {
    while (::ftruncate(descriptor_.number(), static_cast<off_t>(bytes)) != 0) {
      if (errno != EINTR) return error_from_errno("resize " + path_, errno);
    }
    return Done{};
  }

  // Beyond what the file system holds there is no position (lseek(2)); a process may have a limit
  // of its own.
  Status check_size(std::uint64_t bytes) const override {
    rlimit limit{};
    const bool allowed = ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
    const bool held = bytes == 0 ||
                      ::lseek(descriptor_.number(), static_cast<off_t>(bytes), SEEK_SET) >= 0 ||
                      errno != EINVAL;
    if (allowed && held) return Done{};
    return error_from_errno("make a file of " + std::to_string(bytes) + " bytes beside " + path_,
                            EFBIG);
  }

  Result<bool> punch_hole(std::uint64_t offset, std::uint64_t bytes) override {
    while (::fallocate(descriptor_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                       static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0) {
      if (errno == EINTR) continue;
      if (errno == EOPNOTSUPP || errno == ENOSYS) return false;
      return error_from_errno("free space in " + path_, errno);
    }
    return true;
  }

  Status sync() override {
    while (::fdatasync(descriptor_.number()) != 0) {
      if (errno != EINTR) return error_from_errno("sync " + path_, errno);
    }
    return Done{};
  }

  Result<bool> set_attributes(std::uint32_t mode, std::int64_t modified_ns) override {
    return set_descriptor_attributes(descriptor_.number(), mode, modified_ns,
                                     "set mode and time of " + path_);
  }

  Result<FileStat> stat() const override {
    struct stat status;
    if (::fstat(descriptor_.number(), &status) != 0) {
      return error_from_errno("examine " + path_, errno);
    }
    return stat_of(status, FileKind::kFile);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // One at a time: the kernel lets no more write to a file, and those that wait for that would spin
  // (docs/lab/071). `ways` learns how long it took.
  Status write_cached(std::uint64_t offset, std::span<const std::uint8_t> data,
                      WriteWays* ways = nullptr) {
    // The other way waits for its turn in the kernel: so the time for that counts here too.
    const Clock::time_point began = Clock::now();
    if (Status s = write_in_turn(offset, data); !s || ways == nullptr) return s;
    ways->took(WriteWays::Way::kCached, data.size(), Clock::now() - began);
    begin_writeback(offset, data.size());
    return Done{};
  }

  Status write_in_turn(std::uint64_t offset, std::span<const std::uint8_t> data) {
    const std::lock_guard lock(writing_);
    while (!data.empty()) {
      const ssize_t put =
          ::pwrite(descriptor_.number(), data.data(), data.size(), static_cast<off_t>(offset));
      if (put < 0 && errno == EINTR) continue;
      // A write of nothing is what some file systems answer when they are full.
      if (put <= 0) return error_from_errno("write " + path_, put < 0 ? errno : ENOSPC);
      data = data.subspan(static_cast<std::size_t>(put));
      offset += static_cast<std::uint64_t>(put);
    }
    return Done{};
  }

  // Else the kernel would leave the disk idle for seconds, and the next sync would take as much
  // longer (docs/lab/088). Says nothing of what is durable: where it fails, the sync does all.
  void begin_writeback(std::uint64_t offset, std::size_t bytes) {
    (void)::sync_file_range(descriptor_.number(), static_cast<off64_t>(offset),
                            static_cast<off64_t>(bytes), SYNC_FILE_RANGE_WRITE);
  }

  Status write_direct(std::uint64_t offset, std::span<const std::uint8_t> data) {
    const Clock::time_point began = Clock::now();
    using Outcome = DirectAccess::Outcome;
    const Outcome outcome = direct_.write(descriptor_.number(), offset, data);
    if (outcome.kind == Outcome::kFailed) return error_from_errno("write " + path_, outcome.error);
    if (outcome.kind == Outcome::kRefused) ways_->no_direct();
    if (outcome.kind != Outcome::kDone) return write_cached(offset, data);
    ways_->took(WriteWays::Way::kDirect, data.size(), Clock::now() - began);
    return Done{};
  }

  Descriptor descriptor_;
  std::string path_;
  std::shared_ptr<WriteWays> ways_;  // may be none
  mutable DirectAccess direct_;
  std::mutex writing_;
};

}  // namespace

FileStat stat_of(const struct stat& status, FileKind kind) {
  FileStat result;
  result.kind = kind;
  result.bytes = static_cast<std::uint64_t>(status.st_size);
  result.links = static_cast<std::uint64_t>(status.st_nlink);
  result.modified_ns = content::nanoseconds_of(status.st_mtim);
  result.inode = status.st_ino;
  result.changed_ns = content::nanoseconds_of(status.st_ctim);
  result.allocated = static_cast<std::uint64_t>(status.st_blocks) * 512;  // stat(2)
  result.owner = status.st_uid;
  result.mode = status.st_mode;
  return result;
}

std::shared_ptr<File> make_posix_file(Descriptor descriptor, std::string path,
                                      std::shared_ptr<WriteWays> ways) {
  return std::make_shared<PosixFile>(std::move(descriptor), std::move(path), std::move(ways));
}

Result<bool> set_descriptor_attributes(int descriptor, std::optional<std::uint32_t> mode,
                                       std::int64_t modified_ns, const std::string& operation) {
  const auto refused = [] { return errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS; };
  bool kept = true;
  if (mode && ::fchmod(descriptor, allowed_mode(*mode)) != 0) {
    if (!refused()) return error_from_errno(operation, errno);
    kept = false;
  }
  timespec times[2] = {};
  times[0].tv_nsec = UTIME_OMIT;
  times[1] = content::to_timespec(modified_ns);
  if (::futimens(descriptor, times) != 0) {
    if (!refused()) return error_from_errno(operation, errno);
    kept = false;
  }
  return kept;
}

}  // namespace firn::store
