#include "proto/program/output_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "proto/base/unique_fd.h"
#include "proto/content/manifest.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

// Every version of the format: the last byte of the magic numbers them.
bool begins_as_manifest(std::string_view head) {
  return head.starts_with(kManifestMagic.substr(0, kManifestMagic.size() - 1));
}

// A JSON object whose first key is one that `firn bench` writes first.
bool begins_as_figures(std::string_view head) {
  std::string plain;
  for (const char c : head)
    if (c != ' ' && c != '\n') plain += c;
  return plain.starts_with("{\"cells\":") || plain.starts_with("{\"date\":");
}

bool begins_as_key(std::string_view head) {
  return head.starts_with("-----BEGIN PRIVATE KEY-----");
}

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// A name beside `path` that nothing has, opened. `mode` is subject to the umask.
struct Beside {
  UniqueFd fd;
  std::string path;
};
Result<Beside> open_beside(const std::string& path, mode_t mode) {
  for (;;) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number)
      return error_from_errno("draw a random name", errno);
    char name[32];
    std::snprintf(name, sizeof name, ".firn-%016llx", static_cast<unsigned long long>(number));
    std::string beside = (folder_of(path) / name).string();
    UniqueFd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (fd.get() >= 0) return Beside{std::move(fd), std::move(beside)};
    if (errno != EEXIST) return error_from_errno("write " + path, errno);
  }
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return ::fsync(fd) == 0 ? 0 : errno;
}

// Gives `from` the name `to` if nothing has it. Not every file system can do that at once: those
// without RENAME_NOREPLACE have hard links.
int rename_to_free_name(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (::link(from.c_str(), to.c_str()) != 0) return errno;
  ::unlink(from.c_str());
  return 0;
}

void sync_folder(const std::string& path) {
  const UniqueFd folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) (void)::fsync(folder.get());
}

}  // namespace

const FileKind kManifestFile{"manifest", begins_as_manifest};
const FileKind kFiguresFile{"result of firn bench", begins_as_figures};
const FileKind kKeyFile{"private key", begins_as_key};

std::string why_no_file(mode_t mode) {
  if (S_ISDIR(mode)) return "it is a folder; name a file in it";
  if (S_ISLNK(mode)) return "it is a symbolic link; name the file itself";
  if (S_ISFIFO(mode)) return "it is a FIFO; name a file";
  if (S_ISSOCK(mode)) return "it is a socket; name a file";
  if (S_ISREG(mode)) return {};
  return "it is a device; name a file";
}

Status OutputFile::check() const {
  if (path_.empty())
    return Error{ErrorCode::kBadInput, "write a " + std::string(kind_.name),
                 "the name of the file is empty"};
  if (path_ == "-")
    return Error{
        ErrorCode::kBadInput, operation(),
        "a file is written beside its name and renamed, so standard output cannot take it; "
        "name a file (./- if it is to be called so)"};
  struct stat status {};
  if (::lstat(path_.c_str(), &status) != 0) {
    if (errno != ENOENT) return error_from_errno(operation(), errno);
    const fs::path folder = folder_of(path_);
    if (::stat(folder.c_str(), &status) != 0)
      return error_from_errno(operation() + ": its folder " + folder.string(), errno);
    return Done{};
  }
  if (const std::string why = why_no_file(status.st_mode); !why.empty())
    return Error{ErrorCode::kExists, operation(), why};
  // O_NONBLOCK: it may have become a FIFO.
  const UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0) return error_from_errno(operation() + ", look at what stands there", errno);
  char head[kHeadBytes];
  const ssize_t got = ::read(fd.get(), head, sizeof head);
  if (got < 0) return error_from_errno(operation() + ", look at what stands there", errno);
  if (!kind_.begins({head, static_cast<std::size_t>(got)}))
    return Error{ErrorCode::kExists, operation(),
                 "another file stands there, which is no " + std::string(kind_.name) +
                     "; name another file, or move that one away"};
  return Done{};
}

Status OutputFile::check_apart(const std::string& source) const {
  std::error_code ignored;
  if (fs::equivalent(path_, source, ignored) && !fs::is_directory(source, ignored))
    return Error{ErrorCode::kExists, operation(),
                 "it is the file that is shared; name another file"};
  if (!fs::is_directory(source, ignored)) return Done{};
  const fs::path folder = fs::canonical(folder_of(path_), ignored);
  const fs::path shared = fs::canonical(source, ignored);
  if (folder.empty() || shared.empty()) return Done{};  // missing, as others will say
  if (std::mismatch(shared.begin(), shared.end(), folder.begin(), folder.end()).first ==
      shared.end())
    return Error{ErrorCode::kBadInput, operation(),
                 "it would stand in the folder that is shared, and change what is shared; name a "
                 "file elsewhere"};
  return Done{};
}

Status OutputFile::write(std::string_view bytes) const {
  if (Status possible = check(); !possible.ok()) return possible;
  auto beside = open_beside(path_, 0666);
  if (!beside.ok()) return beside.error();
  struct stat older {};
  const bool replaces = ::lstat(path_.c_str(), &older) == 0;
  if (replaces) (void)::fchmod(beside->fd.get(), older.st_mode & 0777);
  int error_number = write_all(beside->fd.get(), bytes);
  if (error_number == 0) {
    if (!replaces) error_number = rename_to_free_name(beside->path, path_);
    // Another process was first: with a file of this kind, which may be replaced, or not.
    const bool taken = error_number == EEXIST && check().ok();
    if (replaces || taken)
      error_number = ::rename(beside->path.c_str(), path_.c_str()) == 0 ? 0 : errno;
  }
  if (error_number != 0) {
    ::unlink(beside->path.c_str());
    return error_from_errno(operation(), error_number);
  }
  sync_folder(path_);
  return Done{};
}

Result<bool> OutputFile::write_new_private(std::string_view bytes) const {
  auto beside = open_beside(path_, 0600);
  if (!beside.ok()) return beside.error();
  int error_number = write_all(beside->fd.get(), bytes);
  if (error_number == 0) error_number = rename_to_free_name(beside->path, path_);
  if (error_number != 0) ::unlink(beside->path.c_str());
  if (error_number == EEXIST) return false;
  if (error_number != 0) return error_from_errno(operation(), error_number);
  sync_folder(path_);
  return true;
}

}  // namespace firn
