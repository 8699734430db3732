#include "client/core/outbox.h"

namespace firn::core {

void Outbox::send(Neighbour& n, proto::PeerMessage message) {
  const std::size_t bytes = proto::wire_bytes(message);
  uplink_.sent_message(bytes);
  n.traffic.sent(bytes, context_.now);
  push(Send{n.key, std::move(message)});
}

}  // namespace firn::core
