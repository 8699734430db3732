#include "tracker/registry.h"

#include <cstring>

namespace firn::tracker {

PackedPeer pack(const Peer& from) {
  const auto endpoint = proto::pack(from.endpoint);
  FIRN_CHECK(endpoint.has_value());
  return {*endpoint, from.complete};
}

Peer unpack(const PackedPeer& from) {
  return {proto::unpack(from.endpoint), from.complete};
}

// By other bytes of the id than hash tables go by.
std::size_t shard_of(const ContentId& content, std::size_t shards) {
  std::uint64_t number = 0;
  std::memcpy(&number, content.bytes.data() + sizeof number, sizeof number);
  return static_cast<std::size_t>(number % shards);
}

RegistryLimits limits_of_shard(RegistryLimits limits, std::size_t shards) {
  const auto divide = [shards](auto& limit) { limit = (limit + shards - 1) / shards; };
  divide(limits.content_count_max);
  divide(limits.peer_count_max);
  divide(limits.peer_places_spare);
  return limits;
}

std::vector<proto::PeerEndpoint> Registry::sample(const ContentId& content,
                                                  const SampleRequest& request,
                                                  Random& random) const {
  Endpoints drawn;
  sample(content, request, random, drawn);
  std::vector<proto::PeerEndpoint> endpoints;
  for (const proto::PackedEndpoint& one : drawn) endpoints.push_back(proto::unpack(one));
  return endpoints;
}

}  // namespace firn::tracker
