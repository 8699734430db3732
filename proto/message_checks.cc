#include "proto/message_checks.h"

#include "proto/base/limits.h"
#include "proto/wire.h"

namespace firn::proto {

std::string_view part_fault(std::uint64_t total_bytes, std::uint64_t offset, std::size_t bytes) {
  if (total_bytes > limits::kManifestBytesMax) return "the manifest is larger than any may be";
  if (bytes > limits::kManifestPartBytes) return "the part is too large";
  if (total_bytes == 0) {
    const bool nothing = bytes == 0 && offset <= limits::kManifestBytesMax;
    return nothing ? "" : "data of a manifest that is not there";
  }
  if (offset > total_bytes || bytes > total_bytes - offset)
    return "the part ends past the manifest's end";
  if (bytes == 0 && offset < total_bytes) return "the part is empty";
  return "";
}

Result<ManifestPart> parse_manifest_part(std::span<const std::uint8_t> body) {
  wire::ManifestPart from;
  if (!parse_wire(body, from)) return protocol_error("a manifest part", "not a ManifestPart");
  const auto fault = part_fault(from.total_bytes(), from.offset(), from.data().size());
  if (!fault.empty()) return protocol_error("a manifest part", std::string(fault));
  return ManifestPart{.total_bytes = from.total_bytes(),
                      .offset = from.offset(),
                      .data = std::move(*from.mutable_data())};
}

}  // namespace firn::proto
