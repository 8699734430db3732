#include "client/app/net/manifest_spool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "client/app/runtime/temporary_folder.h"

namespace firn::app {
namespace {

Result<UniqueFd> nameless_file() {
  const std::string folder = place_for_temporaries();
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.get() >= 0) return fd;
  std::string path = folder + "/firn-XXXXXX";  // a file system without O_TMPFILE
  fd = UniqueFd(::mkostemp(path.data(), O_CLOEXEC));
  if (fd.get() < 0) return error_from_errno("make a temporary file in " + folder, errno);
  ::unlink(path.c_str());
  return fd;
}

}  // namespace

ManifestSpool::~ManifestSpool() {
  if (mapped_ != nullptr) ::munmap(mapped_, size_);
}

Status ManifestSpool::append(std::string_view bytes) {
  FIRN_CHECK(mapped_ == nullptr);
  if (file_.get() < 0 && size_ + bytes.size() <= memory_max_) {
    memory_ += bytes;
    size_ += bytes.size();
    return Done{};
  }
  if (file_.get() < 0) {
    auto file = nameless_file();
    if (!file.ok()) return file.error();
    file_ = *std::move(file);
    if (Status moved = write(std::exchange(memory_, {})); !moved.ok()) return moved;
  }
  if (Status written = write(bytes); !written.ok()) return written;
  size_ += bytes.size();
  return Done{};
}

Status ManifestSpool::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return error_from_errno("keep a manifest in " + place_for_temporaries(), errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return Done{};
}

Result<std::string_view> ManifestSpool::bytes() {
  if (file_.get() < 0) return std::string_view(memory_);
  if (mapped_ == nullptr) {
    void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_.get(), 0);
    if (at == MAP_FAILED) return error_from_errno("read a manifest from its file", errno);
    mapped_ = at;
  }
  return std::string_view(static_cast<const char*>(mapped_), size_);
}

}  // namespace firn::app
