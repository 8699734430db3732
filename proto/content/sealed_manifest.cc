#include "proto/content/sealed_manifest.h"

#include <algorithm>
#include <bit>

#include "proto/base/limits.h"

namespace firn {
namespace {

constexpr std::size_t kSealedBytesMin = 64 << 10;
constexpr const char* kOperation = "read the sealed manifest";

}  // namespace

Result<std::size_t> sealed_bytes(std::size_t manifest_bytes) {
  if (manifest_bytes > limits::kManifestBytesMax - kSealBytes)
    return Error{ErrorCode::kBadInput, "seal the manifest",
                 "it has more than " + std::to_string(limits::kManifestBytesMax - kSealBytes) +
                     " bytes, and no tracker keeps it; peers get it from each other"};
  return std::max(kSealedBytesMin, std::bit_ceil(manifest_bytes + kSealBytes));
}

bool is_sealed_manifest(std::string_view file_bytes) {
  return file_bytes.starts_with(kSealedMagic);
}

std::string sealed_message(std::string_view unsigned_bytes) {
  return std::string("firn sealed manifest v1").append(unsigned_bytes);
}

Status check_sealed_manifest(std::string_view file_bytes, const ContentId& rendezvous) {
  if (!is_sealed_manifest(file_bytes) || file_bytes.size() < kSealedBytesMin ||
      file_bytes.size() > limits::kManifestBytesMax || !std::has_single_bit(file_bytes.size()))
    return Error{ErrorCode::kBadInput, kOperation,
                 "it does not begin with " + std::string(kSealedMagic) +
                     ", or its size is no power of two from 64 KiB to 256 MiB"};
  const std::string_view unsigned_bytes = file_bytes.substr(0, file_bytes.size() - kSignatureBytes);
  const std::string_view signature = file_bytes.substr(unsigned_bytes.size());
  if (!signed_by(rendezvous.raw(), sealed_message(unsigned_bytes), signature))
    return Error{ErrorCode::kCorrupt, kOperation, "it was not sealed with this content's secret"};
  return Done{};
}

}  // namespace firn
