// What the peers of a private content say before anything else, Hello too: each proves to the other
// that it knows the content's secret. A proof is of use in one TLS session and from one side of it,
// so a peer in the middle can neither pass it on nor send it back.
#pragma once

#include <memory>

#include "client/privacy/private_keys.h"
#include "proto/base/ids.h"
#include "proto/messages.h"
#include "proto/transport/transport.h"

namespace firn::app {

// Constant: any thread.
class PrivateGreeting {
 public:
  // `self`: the id that this process proves in TLS.
  PrivateGreeting(std::shared_ptr<const privacy::PrivateKeys> keys, const PeerId& self)
      : keys_(std::move(keys)), self_(self) {}

  // What this side sends on this connection.
  proto::PrivateProof own_proof(const proto::transport::PeerInfo& connection) const;
  // Whether the other side of this connection knows the secret. Takes the same time either way.
  bool proven(const proto::PrivateProof& proof, const proto::transport::PeerInfo& connection) const;

 private:
  privacy::Session session_of(const proto::transport::PeerInfo& connection) const;

  const std::shared_ptr<const privacy::PrivateKeys> keys_;
  const PeerId self_;
};

}  // namespace firn::app
