#include "client/app/net/private_greeting.h"

namespace firn::app {
namespace {

using privacy::Side;
using proto::transport::PeerInfo;

Side own_side(const PeerInfo& connection) {
  return connection.outgoing ? Side::kCaller : Side::kAnswerer;
}
Side other_side(const PeerInfo& connection) {
  return connection.outgoing ? Side::kAnswerer : Side::kCaller;
}

}  // namespace

privacy::Session PrivateGreeting::session_of(const PeerInfo& connection) const {
  return {connection.binding, connection.outgoing ? self_ : connection.id,
          connection.outgoing ? connection.id : self_};
}

proto::PrivateProof PrivateGreeting::own_proof(const PeerInfo& connection) const {
  return {keys_->proof(own_side(connection), session_of(connection))};
}

bool PrivateGreeting::proven(const proto::PrivateProof& proof, const PeerInfo& connection) const {
  return keys_->proves(proof.proof, other_side(connection), session_of(connection));
}

}  // namespace firn::app
