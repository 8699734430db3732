#include "client/content/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string_view>
#include <system_error>
#include <utility>

#include "client/content/file_time.h"
#include "client/content/path_glob.h"
#include "proto/base/limits.h"
#include "proto/base/plain_text.h"
#include "proto/base/unique_fd.h"

namespace firn::content {
namespace {

FileState to_state(const struct stat& s) {
  return {static_cast<std::uint64_t>(s.st_dev), static_cast<std::uint64_t>(s.st_ino),
          static_cast<std::uint64_t>(s.st_size), nanoseconds_of(s.st_mtim),
          nanoseconds_of(s.st_ctim)};
}

Error refused(const std::string& path, std::string why) {
  return {ErrorCode::kBadInput, "look through " + escaped(path), std::move(why)};
}

Result<std::vector<std::string>> names_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), &::closedir);
  if (!stream) return error_from_errno("open folder " + escaped(folder), errno);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) return error_from_errno("read folder " + escaped(folder), errno);
  return names;
}

// Whether a file says that it has no bytes, and has some, as those of /proc and /sys do.
Result<bool> hides_size(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  char first = 0;
  const ssize_t got = file.get() < 0 ? -1 : ::read(file.get(), &first, 1);
  if (got < 0) return error_from_errno("read " + path, errno);
  const Result<FileState> now = state_of(file.get(), path);
  if (!now) return now.error();
  return got > 0 && now->bytes == 0;  // else it has grown since
}

// A pattern of ScanOptions::excludes.
struct Exclude {
  const std::string& pattern;
  std::vector<PathGlob> globs;  // one of them fits what is left out
};

std::vector<Exclude> excludes_of(const std::vector<std::string>& patterns, const std::string& top) {
  std::vector<Exclude> excludes;
  for (const std::string& pattern : patterns) {
    excludes.push_back({pattern, {PathGlob(pattern)}});
    if (pattern.starts_with(top + "/"))
      excludes.back().globs.emplace_back(pattern.substr(top.size()));
  }
  return excludes;
}

struct Problem {
  std::string text;
  ErrorCode code = ErrorCode::kBadInput;
};

class Scanner {
 public:
  Scanner(Scan& scan, const ScanOptions& options)
      : scan_(scan), options_(options), excludes_(excludes_of(options.excludes, scan.name)) {}

  // `relative` is empty for the content's own folder or single file.
  void visit(const std::string& path, const std::string& relative) {
    struct stat status;
    if (::lstat(path.c_str(), &status) != 0) return failure(path, "examine", errno);
    const bool folder = S_ISDIR(status.st_mode);
    if (!relative.empty()) {
      if (excluded(relative, folder)) return;
      if (Status safe = check_content_path(relative); !safe) {
        const std::string why = "has a name that not every system takes: " + safe.error().detail;
        return options_.skip_bad_names ? skip(path, why)
                                       : problem(path, why + " (rename it, or --skip-bad-names)");
      }
    }
    if (S_ISLNK(status.st_mode)) return visit_link(path, relative);
    if (folder) return visit_folder(path, relative, status);
    if (!S_ISREG(status.st_mode)) return problem(path, "is neither a file nor a folder");
    visit_file(path, relative, status);
  }

  const std::vector<Problem>& problems() const { return problems_; }
  bool cancelled() const { return options_.cancelled && options_.cancelled(); }

 private:
  // Every pattern is asked, as all that leave something out are told.
  bool excluded(const std::string& relative, bool folder) {
    bool out = false;
    for (const auto& [pattern, globs] : excludes_) {
      const auto fits = [&](const PathGlob& glob) { return glob.fits(relative, folder); };
      if (std::ranges::none_of(globs, fits)) continue;
      scan_.excludes_used.insert(pattern);
      out = true;
    }
    return out;
  }

  void visit_folder(const std::string& path, const std::string& relative,
                    const struct stat& status) {
    // Names are taken first, so that deep trees do not hold a descriptor per level.
    const Result<std::vector<std::string>> names = names_in(path);
    if (!names)
      return problems_.push_back({escaped(path) + ": " + names.error().detail, names.error().code});
    const std::size_t before = scan_.files.size();
    for (const std::string& name : *names) {
      if (cancelled()) return;
      visit(path + "/" + name, relative.empty() ? name : relative + "/" + name);
    }
    if (scan_.files.size() == before && !relative.empty())
      return (void)add(path, relative, status, FileEntry::Kind::kFolder);
    if ((status.st_mode & 0777) == kFolderMode) return;
    scan_.folders.push_back({relative, status.st_mode & 0777, time_of(path, status)});
  }

  std::int64_t time_of(const std::string& path, const struct stat& status) {
    if (!holds_time(status.st_mtim)) scan_.odd_times.push_back(path);
    return nanoseconds_of(status.st_mtim);
  }

  void visit_file(const std::string& path, const std::string& relative, const struct stat& status) {
    if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0)
      return failure(path, "read", errno);
    if (status.st_size == 0) {
      const Result<bool> hides = hides_size(path);
      if (!hides)
        return problems_.push_back(
            {escaped(path) + ": cannot read: " + hides.error().detail, hides.error().code});
      if (*hides)
        return problems_.push_back(
            {escaped(path) + ": has bytes, but its file system says that its size is 0 (as /proc "
                             "does); copy it and share the copy",
             ErrorCode::kUnsupported});
    }
    add(path, relative, status, FileEntry::Kind::kFile);
  }

  void visit_link(const std::string& path, const std::string& relative) {
    using Links = ScanOptions::Links;
    if (relative.empty())
      return problem(path, "is a symbolic link; share what it points to instead");
    if (options_.links == Links::kSkip) return skip(path, "is a symbolic link");
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(path, error).string();
    if (error) return failure(path, "read", error.value());
    if (Status safe = check_link_target(relative, target); !safe) {
      return problem(path, "is a symbolic link to '" + escaped(target) +
                               "', which would not work elsewhere: " + safe.error().detail +
                               " (--symlinks skip, or --exclude it)");
    }
    if (options_.links == Links::kRefuse)
      return problem(path, "is a symbolic link (--symlinks keep or skip)");
    struct stat nothing {};
    if (add(path, relative, nothing, FileEntry::Kind::kLink)) scan_.files.back().target = target;
  }

  bool add(const std::string& path, const std::string& relative, const struct stat& status,
           FileEntry::Kind kind) {
    if (scan_.files.size() == limits::kFileCountMax) {
      if (!std::exchange(too_many_, true)) {
        problem(path, "is one file too many; a content may have " +
                          std::to_string(limits::kFileCountMax));
      }
      return false;
    }
    FileEntry entry;
    entry.path = relative;
    entry.bytes = kind == FileEntry::Kind::kFile ? static_cast<std::uint64_t>(status.st_size) : 0;
    entry.mode = status.st_mode & 0777;
    entry.modified_ns = time_of(path, status);
    entry.kind = kind;
    scan_.files.push_back(entry);
    scan_.states.push_back(to_state(status));
    scan_.sources.push_back(path);
    return true;
  }

  void problem(const std::string& path, const std::string& why) {
    problems_.push_back({escaped(path) + ": " + why, ErrorCode::kBadInput});
  }
  void failure(const std::string& path, const char* what, int error_number) {
    const Error error = error_from_errno(what, error_number);
    problems_.push_back({escaped(path) + ": cannot " + error.message(), error.code});
  }
  void skip(const std::string& path, const std::string& why) {
    scan_.skipped.push_back(escaped(path) + ": " + why);
  }

  Scan& scan_;
  const ScanOptions& options_;
  const std::vector<Exclude> excludes_;
  std::vector<Problem> problems_;
  bool too_many_ = false;
};

// What cannot be read is the disk's matter as long as nothing else is wrong.
Error all_of(const std::string& path, const std::vector<Problem>& problems) {
  const auto refusal = std::ranges::find(problems, ErrorCode::kBadInput, &Problem::code);
  const ErrorCode code = (refusal == problems.end() ? problems.front() : *refusal).code;
  if (problems.size() == 1) return {code, "look through " + escaped(path), problems.front().text};
  constexpr std::size_t kNamedMax = 100;
  std::string text = std::to_string(problems.size()) + " things in it cannot be shared:";
  for (std::size_t i = 0; i < std::min(problems.size(), kNamedMax); ++i) {
    text += "\n  " + problems[i].text;
  }
  if (problems.size() > kNamedMax) {
    text += "\n  and " + std::to_string(problems.size() - kNamedMax) + " more";
  }
  return {code, "look through " + escaped(path),
          text + "\n  Mend them, or leave them out (--exclude GLOB)"};
}

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
  std::ranges::sort(scan.folders, {}, &FolderEntry::path);
}

}  // namespace

Result<Scan> scan_path(const std::string& path, const ScanOptions& options) {
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
  Scanner scanner(scan, options);
  scanner.visit(trimmed, "");
  if (scanner.cancelled())
    return Error{ErrorCode::kCancelled, "look through " + trimmed, "stopped"};
  if (!scanner.problems().empty()) return all_of(trimmed, scanner.problems());
  sort_by_path(scan);
  for (const FileEntry& entry : scan.files) scan.content_bytes += entry.bytes;
  return scan;
}

Result<FileState> state_of(int descriptor, const std::string& path) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) return error_from_errno("examine " + path, errno);
  return to_state(status);
}

}  // namespace firn::content
