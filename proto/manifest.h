// The manifest: what a content is. A Manifest object has been validated: its paths are safe to
// join to a folder, its sizes add up, its digests are all there, its id is the hash of its info.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/address.h"
#include "proto/ids.h"
#include "proto/result.h"

namespace firn {

// How a content is cut: `generation_count` generations of `generation_size` source blocks of
// `block_bytes` each; the last generation is padded with zeros that are never written to a file.
struct Shape {
  std::uint32_t generation_size = 0;  // n, blocks
  std::uint32_t block_bytes = 0;      // k
  std::uint64_t content_bytes = 0;

  std::uint64_t generation_bytes() const { return std::uint64_t{generation_size} * block_bytes; }
  std::uint32_t generation_count() const {
    return generation_bytes() == 0
               ? 0
               : static_cast<std::uint32_t>((content_bytes + generation_bytes() - 1) /
                                            generation_bytes());
  }
  // Content bytes (without padding) in generation g.
  std::uint64_t bytes_in_generation(std::uint32_t g) const {
    const std::uint64_t first = g * generation_bytes();
    const std::uint64_t rest = content_bytes - first;
    return rest < generation_bytes() ? rest : generation_bytes();
  }
  bool operator==(const Shape&) const = default;
};

struct FileEntry {
  std::string path;  // relative to the content's folder; empty for a single-file content
  std::uint64_t bytes = 0;
  std::uint32_t mode = 0644;  // permission bits
  std::int64_t modified_ns = 0;
  bool directory = false;    // an empty folder
  std::uint64_t offset = 0;  // of its first byte in the content
};

struct Info {
  std::string name;
  bool single_file = false;
  std::vector<FileEntry> files;  // in content order
  Shape shape;
  std::vector<Digest> generation_digests;
};

struct Publisher {
  std::string key;        // 32 bytes, Ed25519
  std::string signature;  // 64 bytes, checked
};

struct Manifest {
  ContentId id;
  Info info;
  std::vector<Address> trackers;
  std::optional<Publisher> publisher;
  std::string file_bytes;  // the manifest file exactly as it stands
};

// A leading part of every manifest file.
inline constexpr std::string_view kManifestMagic = "FIRNMAN1";

// Makes a manifest from its parts; `info` must satisfy what parse_manifest checks (kBadInput says
// which rule it breaks). Unsigned.
Result<Manifest> make_manifest(const Info& info, const std::vector<Address>& trackers);

// Same info (same content id), other trackers.
Result<Manifest> with_trackers(const Manifest& manifest, const std::vector<Address>& trackers);

// Same info, signed with a publisher's Ed25519 key (32 secret bytes; kBadInput if they are not).
Result<Manifest> sign_manifest(const Manifest& manifest, std::span<const std::uint8_t> secret_key);

// Checks both digests, every bound, every path, all sums, the signature if there is one.
// Errors: kCorrupt (a digest does not fit), kBadInput (a rule is broken; says which and where).
Result<Manifest> parse_manifest(std::string_view file_bytes);

// As parse_manifest, and its id must be `expected` (kCorrupt).
Result<Manifest> parse_manifest(std::string_view file_bytes, const ContentId& expected);

// The content id that `file_bytes` claims and proves, without checking the rest: all that a
// tracker needs to host it. Errors: kCorrupt, kBadInput.
Result<ContentId> manifest_content_id(std::string_view file_bytes);

// Whether `path` is safe to create below a folder on any common system: relative, no empty, "." or
// ".." component, no control characters, backslash or ':', no reserved device name (CON, NUL, ...),
// no component ending in a dot or space, UTF-8, within limits.h, and no ".firn" as first component.
// kBadInput says what is wrong. Paths of one content may differ by case alone: where the file
// system does not tell them apart, the store meets them as files in its way.
Status check_content_path(std::string_view path);

}  // namespace firn
