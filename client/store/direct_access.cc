#include "client/store/direct_access.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

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

DirectAccess::Outcome outcome_of(int error) {
  using Outcome = DirectAccess::Outcome;
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

void DirectAccess::advise(int file) {
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
}

bool DirectAccess::fits(std::uint64_t offset, std::span<const std::uint8_t> data) {
  return (offset | data.size() | reinterpret_cast<std::uintptr_t>(data.data())) % unit() == 0;
}

// By a mapping that is never touched: a read that must not wait would start to read ahead.
bool DirectAccess::lies_in_cache(int file, std::uint64_t offset, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const mapped =
      ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return true;
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  const bool told = ::mincore(mapped, bytes, pages.data()) == 0;
  ::munmap(mapped, bytes);
  const auto cached = std::ranges::count_if(pages, [](unsigned char p) { return (p & 1) != 0; });
  return !told || 2 * static_cast<std::size_t>(cached) >= pages.size();
}

// By its descriptor: its name may be another file's by now.
DirectAccess::Outcome::Kind DirectAccess::open(int file) {
  const std::lock_guard lock(mutex_);
  if (descriptor_) return Outcome::kDone;
  if (lies_elsewhere(file)) return Outcome::kRefused;
  const std::string name = "/proc/self/fd/" + std::to_string(file);
  const int flags = ::fcntl(file, F_GETFL) & O_ACCMODE;
  descriptor_ = Descriptor(::open(name.c_str(), flags | O_DIRECT | O_CLOEXEC));
  if (descriptor_) return Outcome::kDone;
  return outcome_of(errno).kind == Outcome::kNotNow ? Outcome::kNotNow : Outcome::kRefused;
}

DirectAccess::Outcome DirectAccess::write(int file, std::uint64_t offset,
                                          std::span<const std::uint8_t> data) {
  if (const Outcome::Kind opened = open(file); opened != Outcome::kDone) return {opened};
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

DirectAccess::Outcome DirectAccess::read(int file, std::uint64_t offset,
                                         std::span<std::uint8_t> out, std::size_t& done) {
  done = 0;
  if (const Outcome::Kind opened = open(file); opened != Outcome::kDone) return {opened};
  while (done < out.size()) {
    const ssize_t got = ::pread(descriptor_.number(), out.data() + done, out.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return outcome_of(errno);
    done += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) % unit() != 0 || got == 0) break;
  }
  return {};
}

}  // namespace firn::store
