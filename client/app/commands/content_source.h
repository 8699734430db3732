// What a command is told about a content: a link or a manifest file.
#pragma once

#include <string>

#include "client/app/console.h"
#include "client/core/types.h"
#include "proto/link.h"
#include "proto/manifest.h"
#include "proto/result.h"

namespace firn::app {

struct ContentSource {
  ContentId content_id;
  std::optional<Manifest> manifest;
  std::vector<Address> trackers;
  std::vector<Address> peers;
};

// Reads a manifest file. Errors: kBadInput (cannot be read, or breaks a rule), kCorrupt turned into
// kBadInput: a damaged manifest is bad input, not a failed verification.
Result<Manifest> read_manifest_file(const std::string& path);

// LINK or X.firn. Errors: kBadInput.
Result<ContentSource> read_source(const std::string& text);

// The manifest that an earlier run kept in the work folder below `dir`, if it is there and right.
std::optional<Manifest> kept_manifest(const std::string& dir, const ContentId& content);

// The folder in which PATH's last component stands.
std::string folder_of(const std::string& path);

// Writes a file whole or not at all. Errors as errno says.
Status write_file(const std::string& path, std::string_view bytes);

// create_manifest's progress on the console; may be called from any thread, one at a time.
std::function<void(std::uint64_t, std::uint64_t)> hashing_progress(Console& console,
                                                                   const std::string& what);

}  // namespace firn::app
