// Makes the manifest of a file or folder: scans it, reads it once, hashes every generation.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "proto/manifest.h"

namespace firn::content {

struct CreateOptions {
  std::uint32_t generation_size = 0;  // 0: chosen from the size
  std::uint32_t block_bytes = 0;
  std::vector<Address> trackers;
  unsigned threads = 2;                                                   // hashing
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // may be empty
  std::function<bool()> cancelled;  // polled between generations; may be empty
};

// `path` names a regular file or a folder (its last component is the content's name; "." and "/"
// have none and are refused). Files are taken in byte order of their paths. Symbolic links are
// refused with the path of the first one found (a link may point outside of the content, and would
// not mean the same elsewhere); so are devices, sockets and names that check_content_path refuses.
// Modes, times and empty folders are kept. Errors name the path. kCorrupt if a file changed while
// it was read. Memory: a few generations.
Result<Manifest> create_manifest(const std::string& path, const CreateOptions& options);

// Where the content's bytes lie for a DIR given on the command line: DIR/<info.name>[/<file path>].
std::string final_path(const Info& info, const std::string& dir, std::uint32_t file);

}  // namespace firn::content
