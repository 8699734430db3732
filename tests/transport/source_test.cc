// Where connections go out from.
#include "proto/transport/source.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/transport/recorder.h"

namespace firn::proto::transport::test {
namespace {

// The address that `server` sees when `client` calls it.
std::string seen_by(Node& server, Node& client, const Address& where) {
  const ConnectionId out = client.transport->connect(where);
  REQUIRE(client.recorder.wait_open(out));
  const ConnectionId in = server.recorder.wait_first();
  REQUIRE(server.recorder.wait_open(in));
  return server.recorder.connection(in).info.ip;
}

std::string refusal(const Status& status) {
  return status ? std::string() : status.error().message();
}

TEST_CASE("a transport that listens on one address connects from it") {
  Node server, client;
  const Address where = server.listen("127.0.0.1");
  client.listen("127.0.0.2");
  CHECK(seen_by(server, client, where) == "127.0.0.2");
}

TEST_CASE(
    "a transport that listens on all addresses connects from the one that the kernel chooses") {
  Node server, client;
  const Address where = server.listen("127.0.0.1");
  client.listen("*");
  CHECK(seen_by(server, client, where) == "127.0.0.1");
}

TEST_CASE("many connections go out from one address at a time") {
  Node server, client;
  const Address where = server.listen("127.0.0.1");
  client.listen("127.0.0.3");
  std::vector<ConnectionId> opened;
  for (int i = 0; i < 20; ++i) opened.push_back(client.transport->connect(where));
  for (const ConnectionId id : opened) CHECK(client.recorder.wait_open(id));
}

TEST_CASE("an address of the other family cannot be reached from one address, and it says so") {
  Node client;
  client.listen("127.0.0.2");
  const ConnectionId out = client.transport->connect(Address{{}, "::1", 9});
  REQUIRE(client.recorder.wait_closed(out));
  const Error error = client.recorder.connection(out).closed.front();
  CHECK(error.code == ErrorCode::kUnreachable);
  CHECK(error.message().find("leave from") != std::string::npos);
}

TEST_CASE("an interface is found by its name, with its addresses") {
  const auto loopback = Source::of_interface("lo");
  REQUIRE(loopback.ok());
  CHECK(loopback->interface() == "lo");
  REQUIRE(loopback->first_address());
  CHECK(loopback->first_address()->ip() == "127.0.0.1");
}

TEST_CASE("an interface that does not exist is an error that names those that do") {
  const auto none = Source::of_interface("nosuch0");
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == ErrorCode::kBadInput);
  CHECK(none.error().message().find("nosuch0") != std::string::npos);
  CHECK(none.error().message().find("lo") != std::string::npos);
  Options options;
  options.interface = "nosuch0";
  Recorder recorder;
  CHECK_FALSE(Transport::start(Identity::generate().value(), recorder, options).ok());
}

TEST_CASE("an address to listen on must be one of the interface's") {
  auto loopback = Source::of_interface("lo").value();
  CHECK(loopback.narrow_to(*numeric_address("0.0.0.0", 1)).ok());
  CHECK(loopback.narrow_to(*numeric_address("::", 1)).ok());
  CHECK(loopback.narrow_to(*numeric_address("127.0.0.77", 1)).ok());
  CHECK(refusal(loopback.narrow_to(*numeric_address("192.0.2.1", 1))).find("127.0.0.1") !=
        std::string::npos);
}

TEST_CASE("through an interface peers are accepted and called") {
  Options options;
  options.interface = "lo";
  Node server(options), client(options);
  const Address where = server.listen("*");
  client.listen("*");
  CHECK(seen_by(server, client, {where.id, "127.0.0.1", where.port}) == "127.0.0.1");
}

}  // namespace
}  // namespace firn::proto::transport::test
