#include "tracker/registry_memory.h"

#include <algorithm>

#include "proto/content/manifest.h"

namespace firn::tracker {

AnnounceOutcome MemoryRegistry::announce(const ContentId& content, const PackedPeer& peer,
                                         Time now) {
  return swarms_.announce(content, peer, now);
}

void MemoryRegistry::leave(const ContentId& content, const PeerId& peer) {
  swarms_.leave(content, peer);
}

void MemoryRegistry::expire(Time before) {
  swarms_.expire(before);
}

SwarmCounts MemoryRegistry::counts(const ContentId& content) const {
  return swarms_.counts(content);
}

void MemoryRegistry::sample(const ContentId& content, const SampleRequest& request, Random& random,
                            Endpoints& into) const {
  swarms_.sample(content, request, random, into);
}

Status MemoryRegistry::put_manifest(const ContentId& content, const std::string& prefix,
                                    std::string_view bytes) {
  const Envelope envelope(content, manifest_signer(bytes));
  if (hosts(envelope)) return Done{};
  if (!shelf_.fits(bytes.size())) return manifest_too_large(content, bytes.size());
  for (const Envelope& leaving : shelf_.in_the_way_of(envelope, prefix, bytes.size()))
    (void)remove_manifest(leaving);
  shelf_.add(envelope, prefix, bytes.size());
  manifests_[envelope] = bytes;
  return Done{};
}

Status MemoryRegistry::remove_manifest(const Envelope& envelope) {
  shelf_.remove(envelope);
  manifests_.erase(envelope);
  return Done{};
}

Result<proto::ManifestPart> MemoryRegistry::manifest_part(const Envelope& envelope,
                                                          std::uint64_t offset,
                                                          std::size_t bytes_max,
                                                          ManifestReading reading) {
  const auto found = manifests_.find(envelope);
  if (found == manifests_.end()) return proto::ManifestPart{};
  if (reading == ManifestReading::kUse) shelf_.use(envelope);
  const std::string& bytes = found->second;
  const std::uint64_t from = std::min<std::uint64_t>(offset, bytes.size());
  return proto::ManifestPart{bytes.size(), from, bytes.substr(from, bytes_max)};
}

Error manifest_too_large(const ContentId& content, std::size_t bytes) {
  return {ErrorCode::kBadInput, "keep the manifest of " + content.short_text(),
          std::to_string(bytes) + " bytes are more than this tracker keeps in all"};
}

}  // namespace firn::tracker
