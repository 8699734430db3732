#include "proto/messages.h"

namespace firn::proto {
namespace {

std::size_t heap_of(const State& state) {
  std::size_t bytes = state.generations.capacity() * sizeof(GenerationState);
  for (const GenerationState& one : state.generations) {
    bytes += one.null_vector.capacity() + one.wanted_blocks.capacity() + one.held_blocks.capacity();
  }
  for (const auto* spans : {&state.complete, &state.unwanted, &state.withdrawn, &state.fetching})
    bytes += spans->capacity() * sizeof(Span);
  return bytes + state.received.capacity() * sizeof(Received) +
         state.convicted.capacity() * sizeof(std::uint64_t);
}
std::size_t heap_of(const Hello& hello) {
  return hello.agent.capacity() + hello.certificate.capacity();
}
std::size_t heap_of(const Block& block) {
  return block.payload.size() + block.coefficients.capacity() +
         (block.state ? heap_of(*block.state) : 0);
}
std::size_t heap_of(const ManifestRequest&) {
  return 0;
}
std::size_t heap_of(const ManifestPart& part) {
  return part.data.capacity();
}
std::size_t heap_of(const PeerExchange& exchange) {
  std::size_t bytes = exchange.peers.capacity() * sizeof(PeerEndpoint);
  for (const PeerEndpoint& peer : exchange.peers) bytes += peer.ip.capacity();
  return bytes;
}
std::size_t heap_of(const Goodbye& goodbye) {
  return goodbye.detail.capacity();
}
std::size_t heap_of(const CheckRequest& request) {
  return request.generations.capacity() * sizeof(std::uint32_t) + request.key.capacity();
}
std::size_t heap_of(const CheckReply& reply) {
  return reply.key.capacity() + reply.sums.capacity();
}
std::size_t heap_of(const LeafRequest& request) {
  return request.generations.capacity() * sizeof(std::uint32_t);
}
std::size_t heap_of(const LeafReply& reply) {
  return reply.leaves.capacity() * sizeof(Digest);
}
std::size_t heap_of(const PrivateProof&) {
  return 0;
}
std::size_t heap_of(const PassedOver&) {
  return 0;
}

}  // namespace

std::size_t heap_bytes(const PeerMessage& message) {
  return std::visit([](const auto& body) { return heap_of(body); }, message);
}

}  // namespace firn::proto
