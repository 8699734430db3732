// What a file or folder holds, before its bytes are read.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "proto/content/manifest.h"

namespace firn::content {

struct ScanOptions {
  enum class Links {
    kRefuse,
    kSkip,
    kKeep,  // as links; one that points out of the content is refused
  };
  Links links = Links::kRefuse;
  // Patterns (path_glob.h) of what is left out, none empty. The content's name may stand in front.
  std::vector<std::string> excludes;
  bool skip_bad_names = false;           // leave out what check_content_path refuses
  std::function<bool()> cancelled = {};  // polled between names; then kCancelled
};

// A file as it stood at the scan; told apart from later states by these fields.
struct FileState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // inode change time: also catches a time that was set back
  bool operator==(const FileState&) const = default;
};

struct Scan {
  std::string name;
  bool single_file = false;
  std::vector<FileEntry> files;      // in byte order of their paths; no offsets and digests yet
  std::vector<FolderEntry> folders;  // likewise
  std::vector<FileState> states;     // same order
  std::vector<std::string> sources;  // same order: where to read it
  std::uint64_t content_bytes = 0;
  std::set<std::string> excludes_used;  // those that left something out
  std::vector<std::string> skipped;  // what ScanOptions left out but for excludes: path and reason
  std::vector<std::string> odd_times;  // paths whose time no manifest holds (file_time.h)
};

// Reads no file's bytes, but one of those that say they have none. Everything that cannot be shared
// is looked for, and told in one error. Errors as create_manifest says.
Result<Scan> scan_path(const std::string& path, const ScanOptions& options);

// The state of an open file.
Result<FileState> state_of(int descriptor, const std::string& path);

}  // namespace firn::content
