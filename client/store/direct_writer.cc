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

// In memory nothing is gained; what others' programs or machines make of it cannot be known, nor
// whether a sync by another descriptor reaches it.
bool lies_elsewhere(int file) {
  struct statfs system;
  if (::fstatfs(file, &system) != 0) return true;
  const auto type = static_cast<unsigned long>(system.f_type);
  return type == TMPFS_MAGIC || type == RAMFS_MAGIC || type == FUSE_SUPER_MAGIC ||
         type == NFS_SUPER_MAGIC;
}

DirectWriter::Outcome outcome_of(int error) {
  using Outcome = DirectWriter::Outcome;
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return {Outcome::kNotNow, error};
    case EINVAL:
    case EOPNOTSUPP:
    case ENOSYS:
      return {Outcome::kRefused, error};
    default:
      return {Outcome::kFailed, error};
  }
}

}  // namespace

void DirectWriter::advise(int file) {
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
}

bool DirectWriter::fits(std::uint64_t offset, std::span<const std::uint8_t> data) {
  return (offset | data.size() | reinterpret_cast<std::uintptr_t>(data.data())) % unit() == 0;
}

// By its descriptor: its name may be another file's by now.
DirectWriter::Outcome::Kind DirectWriter::open(int file) {
  const std::lock_guard lock(mutex_);
  if (descriptor_) return Outcome::kWritten;
  if (lies_elsewhere(file)) return Outcome::kRefused;
  const std::string name = "/proc/self/fd/" + std::to_string(file);
  descriptor_ = Descriptor(::open(name.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC));
  if (descriptor_) return Outcome::kWritten;
  return outcome_of(errno).kind == Outcome::kNotNow ? Outcome::kNotNow : Outcome::kRefused;
}

DirectWriter::Outcome DirectWriter::write(int file, std::uint64_t offset,
                                          std::span<const std::uint8_t> data) {
  if (const Outcome::Kind opened = open(file); opened != Outcome::kWritten) return {opened};
  while (!data.empty()) {
    const ssize_t put =
        ::pwrite(descriptor_.number(), data.data(), data.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return outcome_of(errno);
    // A write that ended within a page is not gone on with there.
    const std::size_t whole = static_cast<std::size_t>(put) / unit() * unit();
    if (whole == 0) return {Outcome::kNotNow};
    data = data.subspan(whole);
    offset += whole;
  }
  return {};
}

}  // namespace firn::store
