// A process as far as the greeting of peers goes: its connections, over a transport that writes
// down what it is asked to do, and the contents that it serves: public ones by their ids, and at
// most one private content.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "client/app/net/connections.h"
#include "tests/app/net/fake_transport.h"

namespace firn::tests {

inline PeerId peer_of(std::uint8_t fill) {
  PeerId id;
  id.bytes.fill(fill);
  return id;
}

// Of a content whose id is zero.
inline std::shared_ptr<const privacy::PrivateKeys> keys_of(std::uint8_t secret) {
  std::array<std::uint8_t, ContentSecret::kBytes> bytes{};
  bytes.fill(secret);
  return std::make_shared<const privacy::PrivateKeys>(ContentSecret{ContentSecret::View(bytes)},
                                                      ContentId{});
}

struct GreetingNode : app::ContentDirectory {
  const PeerId self;
  FakeTransport transport;
  app::TransportInbox inbox{100'000, [] {}};
  app::Connections connections{inbox, *this};
  std::set<ContentId> served, expected;  // public: find() and knows()
  app::PeerEvents* public_owner = nullptr;
  std::optional<app::PrivateGreeting> greeting;  // of the private content, if there is one
  app::PeerEvents* private_owner = nullptr;
  bool accepts = true;  // the private content's session

  explicit GreetingNode(const PeerId& id) : self(id) {
    inbox.attach(&transport);
    connections.attach(transport);
  }

  app::PeerEvents* find(const ContentId& content) override {
    return served.contains(content) ? public_owner : nullptr;
  }
  bool knows(const ContentId& content) override {
    return served.contains(content) || expected.contains(content);
  }
  Proven find_private(const proto::PrivateProof& proof,
                      const proto::transport::PeerInfo& info) override {
    if (!greeting || !greeting->proven(proof, info)) return {};
    return {accepts ? private_owner : nullptr, &*greeting};
  }

  // Handles what has come.
  void pump(core::TimeUs now = 0) {
    std::vector<app::TransportEvent> events;
    inbox.take(events, now);
    for (auto& event : events) connections.handle(std::move(event), now);
  }
};

}  // namespace firn::tests
