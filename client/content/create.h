// Makes the manifest of a file or folder: scans it, reads it once, hashes every generation. Also
// that of a file whose bytes come from elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "client/content/scan.h"
#include "proto/content/manifest.h"

namespace firn::content {

struct CreateOptions {
  std::uint32_t generation_size = 0;  // 0: chosen from the size
  std::uint32_t block_bytes = 0;
  std::vector<Address> trackers;
  bool is_private = false;  // Info::is_private
  // The public key of the content's authority (32 bytes, or empty), of what is known but for it.
  // May be empty: no authority.
  std::function<std::string(const Info& info)> authority;
  ScanOptions scan;
  std::function<void(const Scan& scan)> scanned;  // before bytes are read; may be empty
  unsigned threads = 2;                           // hashing
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // may be empty
  std::function<bool()> cancelled;  // polled between generations; may be empty
};

// `path` names a regular file or a folder (its last component is the content's name; "." and "/"
// have none and are refused). Files are taken in byte order of their paths. Devices, sockets, files
// that cannot be read, and what ScanOptions refuses are all named in one error (kBadInput). Modes,
// times and empty folders are kept (of a folder with mode kFolderMode that is not empty, no time).
// kUnsupported: a file has bytes, but no size (/proc). kCorrupt if a file changed while it was
// read. Memory: a few generations, and about 300 bytes a file.
Result<Manifest> create_manifest(const std::string& path, const CreateOptions& options);

// Fills `out` with the next bytes; an error ends the work.
using ReadNext = std::function<Status(std::span<std::uint8_t> out)>;

// The same of a single file whose bytes come once, in order, from elsewhere. `file`: its path is
// the content's name; size, mode and time as the manifest will have them. `read_next` is called by
// one thread at a time, for `file.bytes` bytes in all. CreateOptions::progress comes in jumps of
// generations. Other errors: those of `read_next`.
Result<Manifest> create_manifest_of(FileEntry file, const ReadNext& read_next,
                                    const CreateOptions& options);

}  // namespace firn::content
