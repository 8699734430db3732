// What a file or folder holds, before its bytes are read.
#pragma once

#include <string>
#include <vector>

#include "proto/manifest.h"

namespace firn::content {

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
  std::vector<FileEntry> files;      // in byte order of their paths; offsets set
  std::vector<FileState> states;     // same order
  std::vector<std::string> sources;  // same order: where to read it
  std::uint64_t content_bytes = 0;
};

// Reads no file's bytes. Errors as create_manifest says.
Result<Scan> scan_path(const std::string& path);

// The state of an open file.
Result<FileState> state_of(int descriptor, const std::string& path);

}  // namespace firn::content
