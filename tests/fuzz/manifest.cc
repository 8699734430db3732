// A manifest that is taken can be made again from its parts and reads the same. The first byte
// says what the others are, so that a mutation gets past the digests:
//   0  the manifest file       1  its envelope; magic and seal are put around
//   2  its info part; the right root, the envelope, magic and seal are put around
#include <filesystem>
#include <string>
#include <vector>

#include "proto/base/digest.h"
#include "proto/content/manifest.h"
#include "proto/wire.h"
#include "proto/wire_fields.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::manifest {
namespace {

std::string sealed(const std::string& envelope) {
  std::string file = std::string(kManifestMagic) + envelope;
  return file.append(sha256(proto::as_bytes(file)).raw());
}

// A repeated field replaces the one before: the root is put right by adding it once more.
std::string with_right_root(std::string info) {
  std::vector<Digest> digests;
  for (proto::FieldReader fields(proto::as_bytes(info)); fields.next();) {
    if (!fields.is_bytes(wire::Info::kGenerationDigestsFieldNumber)) continue;
    digests.resize(fields.bytes().size() / kIdBytes);
    for (std::size_t i = 0; i < digests.size(); ++i)
      digests[i] =
          *Digest::from_bytes(proto::as_text(fields.bytes().subspan(i * kIdBytes, kIdBytes)));
  }
  wire::Info root;
  root.set_root(std::string(merkle_root(digests).raw()));
  return info + root.SerializeAsString();
}

std::string file_from(std::span<const std::uint8_t> input) {
  const std::string rest(proto::as_text(input.subspan(1)));
  if (input[0] == 0) return rest;
  if (input[0] == 1) return sealed(rest);
  wire::Envelope envelope;
  envelope.set_info(with_right_root(rest));
  return sealed(envelope.SerializeAsString());
}

// What parse_manifest promises about paths, said in another way.
void check_paths(const Info& info) {
  for (const FileEntry& file : info.files) {
    if (info.single_file) continue;
    const std::filesystem::path path(file.path);
    FIRN_CHECK(path.is_relative() && path == path.lexically_normal() && path.has_filename());
    FIRN_CHECK(*path.begin() != "..");
  }
  FIRN_CHECK(!std::filesystem::path(info.name).has_parent_path());
}

}  // namespace

FIRN_FUZZ_TARGET(manifest) {
  if (size == 0) return 0;
  const std::string file = file_from({data, size});
  const auto manifest = parse_manifest(file);
  if (!manifest.ok()) return 0;
  check_paths(manifest->info);
  FIRN_CHECK(manifest->file_bytes == file);
  FIRN_CHECK(*manifest_content_id(file) == manifest->id);
  FIRN_CHECK(parse_manifest(file, manifest->id).ok());

  const auto made = make_manifest(manifest->info, manifest->trackers);
  FIRN_CHECK(made.ok());
  const auto again = make_manifest(made->info, made->trackers);
  FIRN_CHECK(again.ok() && again->file_bytes == made->file_bytes);
  const auto moved = with_trackers(*manifest, {});
  FIRN_CHECK(moved.ok() && moved->id == manifest->id && moved->trackers.empty());
  FIRN_CHECK(moved->origins == manifest->origins &&
             moved->origins_signed == manifest->origins_signed);
  const auto stripped = with_origins(*manifest, {});
  FIRN_CHECK(stripped.ok() && stripped->id == manifest->id && stripped->origins.empty());
  const auto named = with_origins(*stripped, manifest->origins);
  FIRN_CHECK(named.ok() && named->origins == manifest->origins && !named->origins_signed);
  return 0;
}

}  // namespace firn::fuzz::manifest
