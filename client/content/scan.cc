#include "client/content/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <numeric>

#include "proto/limits.h"

namespace firn::content {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileState to_state(const struct stat& s) {
  return {static_cast<std::uint64_t>(s.st_dev), static_cast<std::uint64_t>(s.st_ino),
          static_cast<std::uint64_t>(s.st_size), nanoseconds(s.st_mtim), nanoseconds(s.st_ctim)};
}

Error refused(const std::string& path, std::string why) {
  return {ErrorCode::kBadInput, "share " + path, std::move(why)};
}

Result<std::vector<std::string>> names_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), &::closedir);
  if (!stream) return error_from_errno("open folder " + folder, errno);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) return error_from_errno("read folder " + folder, errno);
  return names;
}

class Scanner {
 public:
  explicit Scanner(Scan& scan) : scan_(scan) {}

  // `relative` is empty for the content's own folder or single file.
  Status visit(const std::string& path, const std::string& relative) {
    struct stat status;
    if (::lstat(path.c_str(), &status) != 0) return error_from_errno("examine " + path, errno);
    if (S_ISLNK(status.st_mode)) {
      return refused(path, "is a symbolic link; share what it points to instead, or remove it");
    }
    if (!relative.empty()) {
      if (Status safe = check_content_path(relative); !safe) {
        return refused(path, safe.error().message());
      }
    }
    if (S_ISREG(status.st_mode)) return add(path, relative, status, false);
    if (!S_ISDIR(status.st_mode)) return refused(path, "is neither a file nor a folder");

    // Names are taken first, so that deep trees do not hold a descriptor per level.
    Result<std::vector<std::string>> names = names_in(path);
    if (!names) return names.error();
    if (names->empty() && !relative.empty()) return add(path, relative, status, true);
    for (const std::string& name : *names) {
      const std::string below = relative.empty() ? name : relative + "/" + name;
      if (Status visited = visit(path + "/" + name, below); !visited) return visited;
    }
    return Done{};
  }

 private:
  Status add(const std::string& path, const std::string& relative, const struct stat& status,
             bool directory) {
    if (scan_.files.size() == limits::kFileCountMax) {
      return refused(path, "is one file too many; a content may have " +
                               std::to_string(limits::kFileCountMax));
    }
    FileEntry entry;
    entry.path = relative;
    entry.bytes = directory ? 0 : static_cast<std::uint64_t>(status.st_size);
    entry.mode = status.st_mode & 0777;
    entry.modified_ns = nanoseconds(status.st_mtim);
    entry.directory = directory;
    scan_.files.push_back(entry);
    scan_.states.push_back(to_state(status));
    scan_.sources.push_back(path);
    return Done{};
  }

  Scan& scan_;
};

template <typename T>
void reorder(std::vector<T>& items, const std::vector<std::size_t>& order) {
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const std::size_t i : order) sorted.push_back(std::move(items[i]));
  items = std::move(sorted);
}

void sort_by_path(Scan& scan) {
  std::vector<std::size_t> order(scan.files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // std::string compares as unsigned bytes, whatever the locale.
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return scan.files[a].path < scan.files[b].path; });
  reorder(scan.files, order);
  reorder(scan.states, order);
  reorder(scan.sources, order);
}

}  // namespace

Result<Scan> scan_path(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  Scan scan;
  scan.name = trimmed.substr(trimmed.rfind('/') + 1);
  if (scan.name.empty() || scan.name == "." || scan.name == "..") {
    return refused(path.empty() ? "\"\"" : path,
                   "has no name of its own; name the file or folder itself");
  }
  if (Status safe = check_content_path(scan.name); !safe) {
    return refused(trimmed, safe.error().message());
  }
  struct stat status;
  if (::lstat(trimmed.c_str(), &status) != 0) return error_from_errno("examine " + trimmed, errno);
  scan.single_file = S_ISREG(status.st_mode);
  if (Status visited = Scanner(scan).visit(trimmed, ""); !visited) return visited.error();
  sort_by_path(scan);
  for (FileEntry& entry : scan.files) {
    entry.offset = scan.content_bytes;
    scan.content_bytes += entry.bytes;
  }
  return scan;
}

Result<FileState> state_of(int descriptor, const std::string& path) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) return error_from_errno("examine " + path, errno);
  return to_state(status);
}

}  // namespace firn::content
