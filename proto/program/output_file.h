// A file that a program writes under a name that its user gave: a manifest, a key, figures.
//
// It goes where nothing stands, or in the place of an older file of its own kind; never in the
// place of another file, a folder, a device, a FIFO or a socket, and never through a symbolic link.
// It is written beside its name and renamed, so that no program sees half of it. Logs are in
// log_file.h.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "proto/base/result.h"

namespace firn {

// What a file is, as its first bytes tell.
struct FileKind {
  const char* name;  // as in "is no manifest"
  // `head` is the first kHeadBytes of a file, or all of a shorter one.
  bool (*begins)(std::string_view head);
};
inline constexpr std::size_t kHeadBytes = 256;

extern const FileKind kManifestFile;
extern const FileKind kFiguresFile;  // of `firn bench`
extern const FileKind kKeyFile;

class OutputFile {
 public:
  OutputFile(std::string path, const FileKind& kind) : path_(std::move(path)), kind_(kind) {}

  const std::string& path() const { return path_; }

  // Whether write() may go there as things are: to be asked before long work. Errors: kExists
  // (something else is in the way), kBadInput (an empty name), kNotFound (no such folder), others
  // as errno says.
  Status check() const;
  // Errors: kExists (it is `source` itself, under whatever name), kBadInput (it stands in the
  // folder `source`, and would change what is read there). `source` may be missing.
  Status check_apart(const std::string& source) const;

  // The whole file, or nothing is changed. Errors as check(), and what writing costs.
  Status write(std::string_view bytes) const;
  // The same for a file that only its owner reads, and only where nothing stands, whatever other
  // processes do meanwhile. False: something stands there.
  Result<bool> write_new_private(std::string_view bytes) const;

 private:
  std::string operation() const { return "write " + path_; }

  std::string path_;
  FileKind kind_;
};

// What stands at `path` if it is neither missing nor a regular file: "it is a folder; ..." and what
// to do. Empty otherwise. `mode` as lstat says.
std::string why_no_file(mode_t mode);

}  // namespace firn
