// A registry in memory alone: for tests, and for trackers that may forget.
#pragma once

#include <string>
#include <unordered_map>

#include "tracker/manifest_shelf.h"
#include "tracker/registry.h"
#include "tracker/swarm_table.h"

namespace firn::tracker {

class MemoryRegistry final : public Registry {
 public:
  // `seed`: as SwarmTable's.
  explicit MemoryRegistry(const RegistryLimits& limits = {}, std::uint64_t seed = 0)
      : swarms_(
            limits, [](const ContentId&, const PeerId&) {}, seed),
        shelf_(limits) {}

  using Registry::announce;
  using Registry::sample;
  AnnounceOutcome announce(const ContentId& content, const PackedPeer& peer, Time now) override;
  void leave(const ContentId& content, const PeerId& peer) override;
  void expire(Time before) override;
  SwarmCounts counts(const ContentId& content) const override;
  void sample(const ContentId& content, const SampleRequest& request, Random& random,
              Endpoints& into) const override;
  void describe(Snapshot& snapshot) const override { swarms_.describe(snapshot); }
  std::optional<SeenPeer> find(const ContentId& content, const PeerId& peer) const override {
    return swarms_.seen(content, peer);
  }
  std::vector<ContentId> contents() const override { return swarms_.contents(); }
  void for_each_peer(const ContentId& content,
                     const std::function<void(const SeenPeer&)>& visit) const override {
    swarms_.for_each_of(content, visit);
  }
  const std::vector<PublicKey>& signers_of(const ContentId& content) const override {
    return shelf_.signers_of(content);
  }
  std::vector<Envelope> hosted_manifests() const override { return shelf_.all(); }
  std::optional<Hosted> hosted(const Envelope& envelope) const override {
    return shelf_.hosted(envelope);
  }
  Status put_manifest(const ContentId& content, const std::string& prefix,
                      std::string_view bytes) override;
  Status remove_manifest(const Envelope& envelope) override;
  Result<proto::ManifestPart> manifest_part(
      const Envelope& envelope, std::uint64_t offset, std::size_t bytes_max,
      ManifestReading reading = ManifestReading::kUse) override;
  Status flush() override { return Done{}; }

 private:
  SwarmTable swarms_;
  ManifestShelf shelf_;
  std::unordered_map<Envelope, std::string> manifests_;
};

// What every registry says of a manifest that no room can hold.
Error manifest_too_large(const ContentId& content, std::size_t bytes);

}  // namespace firn::tracker
