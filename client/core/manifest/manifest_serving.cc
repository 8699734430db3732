#include "client/core/manifest/manifest_serving.h"

#include <algorithm>

#include "proto/base/limits.h"

namespace firn::core {

// Parts are as large as a limited uplink carries in a fraction of a second, within bounds. Less:
// receivers take us for dead; more: messages for little.
constexpr std::uint64_t kManifestPartsPerSecond = 4;
constexpr std::uint64_t kManifestPartMin = 4 << 10;

// We may hear that a part has left after its receiver has asked for the next one: a single request
// may wait. A second one cannot come from a peer that has waited for its answers.
void ManifestServing::asked(Neighbour& n, const proto::ManifestRequest& request) {
  Asker& asker = askers_[n.key];
  if (asker.offset) {
    membership_.punish(n.id, proto::GoodbyeReason::kProtocolError,
                       "asked for parts of the manifest without waiting for them");
    return;
  }
  asker.offset = request.offset;
  queue(n.key, asker);
}

void ManifestServing::part_departed(PeerKey peer) {
  const auto known = askers_.find(peer);
  if (known == askers_.end() || !known->second.leaving) return;
  known->second.leaving = false;
  queue(peer, known->second);
}

void ManifestServing::queue(PeerKey peer, const Asker& asker) {
  if (!asker.offset || asker.leaving) return;
  line_.push_back(peer);
  step();
}

// A limited uplink sends smaller parts, so that each of several receivers gets one now and then and
// none takes us for dead.
std::uint64_t ManifestServing::part_bytes() const {
  if (uplink_.unlimited()) return limits::kManifestPartBytes;
  return std::clamp<std::uint64_t>(uplink_.rate() / kManifestPartsPerSecond, kManifestPartMin,
                                   limits::kManifestPartBytes);
}

void ManifestServing::step() {
  while (!line_.empty() && uplink_.ready(context_.now)) {
    const PeerKey peer = line_.front();
    line_.pop_front();
    Asker& asker = askers_[peer];
    const std::uint64_t offset = *std::exchange(asker.offset, std::nullopt);
    proto::ManifestPart part;
    if (offset < file_.size()) {
      part.total_bytes = file_.size();
      part.offset = offset;
      part.data = file_.substr(offset, part_bytes());
    }
    asker.leaving = true;
    outbox_.send(*membership_.find(peer), std::move(part));
  }
}

void ManifestServing::neighbour_left(const Neighbour& n) {
  askers_.erase(n.key);
  std::erase(line_, n.key);
}

}  // namespace firn::core
