#include "client/store/direct_writer.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace firn::store {
namespace {

// Of offsets, lengths and addresses: no disk in use wants more than 4096, and a page is never
// written by both ways.
std::size_t unit() {
  static const std::size_t kUnit =
      std::max<std::size_t>(4096, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  return kUnit;
}

// There is no disk behind it, and nothing is gained.
bool lies_in_memory(int file) {
  struct statfs system;
  return ::fstatfs(file, &system) == 0 &&
         (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

bool refused(int error) {
  return error == EINVAL || error == EOPNOTSUPP || error == ENOSYS || error == EBADF;
}

}  // namespace

void DirectWriter::advise(int file) {
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
}

bool DirectWriter::fits(std::uint64_t offset, std::span<const std::uint8_t> data) {
  return (offset | data.size() | reinterpret_cast<std::uintptr_t>(data.data())) % unit() == 0;
}

// By its descriptor: its name may be another file's by now.
bool DirectWriter::open(int file) {
  const std::lock_guard lock(mutex_);
  if (!tried_) {
    tried_ = true;
    if (lies_in_memory(file)) return false;
    const std::string name = "/proc/self/fd/" + std::to_string(file);
    descriptor_ = Descriptor(::open(name.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC));
  }
  return static_cast<bool>(descriptor_);
}

std::optional<int> DirectWriter::write(int file, std::uint64_t offset,
                                       std::span<const std::uint8_t> data) {
  if (!open(file)) return std::nullopt;
  while (!data.empty()) {
    const ssize_t put =
        ::pwrite(descriptor_.number(), data.data(), data.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return refused(errno) ? std::nullopt : std::optional(errno);
    // A write that ended within a page is not gone on with there.
    const std::size_t whole = static_cast<std::size_t>(put) / unit() * unit();
    if (whole == 0) return std::nullopt;
    data = data.subspan(whole);
    offset += whole;
  }
  return 0;
}

}  // namespace firn::store
