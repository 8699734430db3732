// The manifest: what a content is. A Manifest object has been validated: its paths are safe to
// join to a folder, its sizes add up, its digests are all there, its id is the hash of its info.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/address.h"
#include "proto/base/ids.h"
#include "proto/base/result.h"
#include "proto/content/shape.h"

namespace firn {

// A folder that files lie in, or the content's own. One without an entry has mode kFolderMode and
// no time.
struct FolderEntry {
  std::string path;           // relative to the content's folder; empty: that folder
  std::uint32_t mode = 0755;  // permission bits
  std::int64_t modified_ns = 0;
};
inline constexpr std::uint32_t kFolderMode = 0755;

struct FileEntry {
  enum class Kind : std::uint8_t {
    kFile,
    kFolder,  // an empty one; others follow from the paths of what they hold (FolderEntry)
    kLink,    // a symbolic link
  };
  std::string path;  // relative to the content's folder; empty for a single-file content
  std::uint64_t bytes = 0;
  std::uint32_t mode = 0644;  // permission bits
  std::int64_t modified_ns = 0;
  Kind kind = Kind::kFile;
  Digest digest = {};        // SHA-256 of a file's bytes; zeros for folders and links
  std::string target = {};   // of a link; check_link_target's rules hold
  std::uint64_t offset = 0;  // position of its first byte in the content (proto/content/shape.h)
};

struct Info {
  std::string name;
  bool single_file = false;
  std::vector<FileEntry> files;           // in content order
  std::vector<FolderEntry> folders = {};  // in byte order of their paths
  Shape shape;
  std::vector<Digest> generation_digests;
  std::string authority_key;  // Ed25519, 32 bytes, whose holder may vouch for parts of the content;
                              // empty: there is none
  bool is_private = false;    // only peers that know the secret of its link may get it
};

struct Publisher {
  std::string key;        // 32 bytes, Ed25519
  std::string signature;  // 64 bytes, checked
};

struct Manifest {
  ContentId id;
  Info info;
  std::vector<Address> trackers;
  std::vector<std::string> origins = {};  // URLs that check_origin_text takes
  bool origins_signed = false;            // by the publisher's key
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

// Same info, other origins: URLs. Their signature is left out unless they are those that it is for.
Result<Manifest> with_origins(const Manifest& manifest, const std::vector<std::string>& urls);

// Same info, it and the origins signed with a publisher's Ed25519 key (32 secret bytes; kBadInput
// if they are not).
Result<Manifest> sign_manifest(const Manifest& manifest, std::span<const std::uint8_t> secret_key);

// Checks both digests, every bound, every path, all sums, the signatures if there are any.
// Errors: kCorrupt (a digest does not fit), kBadInput (a rule is broken; says which and where).
Result<Manifest> parse_manifest(std::string_view file_bytes);

// As parse_manifest, and its id must be `expected` (kCorrupt).
Result<Manifest> parse_manifest(std::string_view file_bytes, const ContentId& expected);

// As parse_manifest, of a file that came from the network, without what any stranger may have put
// there: the trackers that it names, and origins that its publisher has not signed, or that are
// malformed. Peers and trackers of an earlier version pass these on as they are.
Result<Manifest> parse_strangers_manifest(std::string_view file_bytes, const ContentId& expected);

// The content id that `file_bytes` claims and proves, without checking the rest: all that a
// tracker needs to host it. Errors: kCorrupt, kBadInput.
Result<ContentId> manifest_content_id(std::string_view file_bytes);

// The key that the file names as its publisher's, zeros if it names none: of one that was checked
// before. Reads nothing else of it.
PublicKey manifest_signer(std::string_view file_bytes);

// The content's name, from the first bytes of a file that was checked before; they hold it if they
// are kNameWithin or more. Empty: the file has its fields in another order than make_manifest().
inline constexpr std::size_t kNameWithin = 512;
std::string manifest_name(std::string_view first_bytes);

// Whether `path` is safe to create below a folder on any common system: relative, no empty, "." or
// ".." component, no control characters, backslash or ':', no reserved device name (CON, NUL, ...),
// no component ending in a dot or space, UTF-8, within limits.h, and no ".firn" as first component.
// kBadInput says what is wrong. Paths of one content may differ by case alone: where the file
// system does not tell them apart, the store meets them as files in its way.
Status check_content_path(std::string_view path);

// Whether a symbolic link at `path` may point to `target`: relative, ".." at its beginning alone
// and never above the content's folder, no other empty or "." component, no control characters or
// backslashes, UTF-8, within limits.h. Whatever other such links it goes through, it then ends
// inside the content. kBadInput says what is wrong.
Status check_link_target(std::string_view path, std::string_view target);

}  // namespace firn
