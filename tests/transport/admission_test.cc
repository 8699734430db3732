// Places for accepted connections.
#include "proto/transport/admission.h"

#include <doctest/doctest.h>

#include <vector>

#include "proto/transport/sockets.h"
#include "proto/transport/source.h"
#include "tests/transport/recorder.h"

namespace firn::proto::transport::test {
namespace {

using Place = Admission::Place;

TEST_CASE("a network has its places, others have theirs") {
  Admission admission({.of_network = 2, .handshakes_of_network = 2, .handshakes = 100});
  auto first = admission.enter("192.0.2.1");
  auto second = admission.enter("192.0.2.1");
  REQUIRE((first && second));
  first->opened();
  second->opened();
  CHECK_FALSE(admission.enter("192.0.2.1"));
  CHECK(admission.enter("192.0.2.2"));
  first.reset();
  CHECK(admission.enter("192.0.2.1"));
}

TEST_CASE("handshakes under way are bounded by network and in all, and made room for when done") {
  Admission admission({.of_network = 100, .handshakes_of_network = 2, .handshakes = 3});
  auto first = admission.enter("2001:db8::1");
  auto second = admission.enter("2001:db8::2");  // the same /64
  REQUIRE((first && second));
  CHECK_FALSE(admission.enter("2001:db8::3"));
  auto third = admission.enter("192.0.2.1");
  REQUIRE(third);
  CHECK_FALSE(admission.enter("192.0.2.2"));
  first->opened();
  first->opened();  // counts once
  CHECK(admission.enter("2001:db8::3"));
  third.reset();
  auto fourth = admission.enter("192.0.2.2");
  auto fifth = admission.enter("192.0.2.3");
  CHECK((fourth && fifth));
  CHECK_FALSE(admission.enter("192.0.2.4"));
}

TEST_CASE("a place that moves is given back once") {
  Admission admission({.of_network = 1, .handshakes_of_network = 1, .handshakes = 1});
  {
    auto place = admission.enter("192.0.2.1");
    REQUIRE(place);
    const Place moved = std::move(*place);
    CHECK_FALSE(admission.enter("192.0.2.1"));
  }
  CHECK(admission.enter("192.0.2.1"));
}

TEST_CASE("silent strangers of one network do not keep others out") {
  Options options;
  options.connection_count_max = 64;  // 16 handshakes of one network
  Node server(options);
  Node client;
  if (!open_listening(Address{{}, "::1", 0}).ok()) {
    MESSAGE("no IPv6 on this machine: another network cannot be had");
    return;
  }
  auto listening = server.transport->listen({std::nullopt, "*", 0});
  REQUIRE(listening.ok());
  const auto where = numeric_address("127.0.0.1", listening->port);
  REQUIRE(where);
  std::vector<Socket> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(begin_connect(*where, {}));
  const ConnectionId refused =
      client.transport->connect({std::nullopt, "127.0.0.1", listening->port});
  REQUIRE(client.recorder.wait_closed(refused));
  CHECK_FALSE(client.recorder.connection(refused).open);
  const ConnectionId other = client.transport->connect({std::nullopt, "::1", listening->port});
  CHECK(client.recorder.wait_open(other));
  strangers.clear();
  // Their places come back as the server sees them go.
  REQUIRE(
      client.recorder.wait_open(client.transport->connect({std::nullopt, "::1", listening->port})));
}

}  // namespace
}  // namespace firn::proto::transport::test
