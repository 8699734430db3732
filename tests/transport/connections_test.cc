// Listening, connecting, identities, and every way in which that fails.
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <thread>

#include "proto/transport/sockets.h"
#include "tests/transport/recorder.h"

namespace firn::proto::transport::test {
namespace {

using namespace std::chrono_literals;

bool mentions(const Error& error, const std::string& text) {
  return error.message().find(text) != std::string::npos;
}

// A listening socket that no program accepts from: TCP connects, TLS never answers.
Listening deaf_listener() {
  return open_listening(Address{{}, "127.0.0.1", 0}).value();
}

// Some containers have none.
bool machine_has_ipv6() {
  const bool has = open_listening(Address{{}, "::1", 0}).ok();
  if (!has) MESSAGE("no IPv6 on this machine: only IPv4 is tested");
  return has;
}

TEST_CASE("a session's binding is known to both of its sides, and no other session has it") {
  Node server, client;
  const Address where = server.listen("127.0.0.1");
  std::vector<SessionBinding> bindings;
  for (int i = 0; i < 2; ++i) {
    const ConnectionId out = client.transport->connect(where);
    REQUIRE(client.recorder.wait_open(out));
    bindings.push_back(client.recorder.connection(out).info.binding);
    CHECK(server.recorder.wait([&](const auto& connections) {
      return std::ranges::any_of(
          connections, [&](const auto& one) { return one.second.info.binding == bindings.back(); });
    }));
  }
  CHECK(bindings[0] != bindings[1]);
  CHECK(bindings[0] != SessionBinding{});
}

TEST_CASE("both sides learn each other's proven id and address") {
  const bool ipv6 = machine_has_ipv6();
  for (const std::string host : {"127.0.0.1", "::1", "localhost"}) {
    if (host == "::1" && !ipv6) continue;
    CAPTURE(host);
    Node server;
    Node client;
    const Address where = server.listen(host);
    CHECK(where.id == server.identity.id());
    CHECK(where.port != 0);
    const ConnectionId out = client.transport->connect(where);
    REQUIRE(client.recorder.wait_open(out));
    const ConnectionId in = server.recorder.wait_first();
    REQUIRE(server.recorder.wait_open(in));

    const PeerInfo to_server = client.recorder.connection(out).info;
    CHECK(to_server.id == server.identity.id());
    CHECK(to_server.outgoing);
    CHECK(to_server.ip == where.host);
    CHECK(to_server.port == where.port);
    const PeerInfo to_client = server.recorder.connection(in).info;
    CHECK(to_client.id == client.identity.id());
    CHECK_FALSE(to_client.outgoing);
    CHECK(to_client.ip == where.host);
    CHECK(to_client.port != 0);
  }
}

TEST_CASE("an address without an id connects to any peer that listens there") {
  Node server;
  Node client;
  Address where = server.listen();
  where.id.reset();
  const ConnectionId out = client.transport->connect(where);
  REQUIRE(client.recorder.wait_open(out));
  CHECK(client.recorder.connection(out).info.id == server.identity.id());
}

TEST_CASE("listening on all addresses takes IPv4 and IPv6, and shows IPv4 as IPv4") {
  if (!machine_has_ipv6()) return;
  for (const std::string host : {"", "*", "::"}) {
    CAPTURE(host);
    Node server;
    Node client;
    const Address where = server.listen(host);
    for (const std::string ip : {"127.0.0.1", "::1"}) {
      const ConnectionId out = client.transport->connect(Address{where.id, ip, where.port});
      REQUIRE(client.recorder.wait_open(out));
    }
    REQUIRE(server.recorder.wait([](const auto& all) {
      return std::count_if(all.begin(), all.end(), [](auto& one) { return one.second.open; }) == 2;
    }));
    std::vector<std::string> seen;
    server.recorder.wait([&](const auto& all) {
      for (const auto& [id, connection] : all) seen.push_back(connection.info.ip);
      return true;
    });
    std::sort(seen.begin(), seen.end());
    CHECK(seen == std::vector<std::string>{"127.0.0.1", "::1"});
  }
}

TEST_CASE("a server with another key than the one asked for is refused by both") {
  Node server;
  Node client;
  Address where = server.listen();
  where.id = client.identity.id();
  const ConnectionId out = client.transport->connect(where);
  REQUIRE(client.recorder.wait_closed(out));
  CHECK_FALSE(client.recorder.connection(out).open);
  const Error error = client.recorder.ending(out);
  CHECK(error.code == ErrorCode::kWrongIdentity);
  CHECK(mentions(error, std::to_string(where.port)));
  CHECK(mentions(error, server.identity.id().text()));
  CHECK(mentions(error, client.identity.id().text()));
  CHECK(server.recorder.count() == 0);
}

TEST_CASE("a refused connection says so and names the address") {
  std::uint16_t port = 0;
  {
    const Listening gone = deaf_listener();
    port = gone.address.port();
  }
  Node client;
  const ConnectionId out = client.transport->connect(Address{{}, "127.0.0.1", port});
  REQUIRE(client.recorder.wait_closed(out));
  const Error error = client.recorder.ending(out);
  CHECK(error.code == ErrorCode::kUnreachable);
  CHECK(mentions(error, "127.0.0.1:" + std::to_string(port)));
  CHECK(mentions(error, "refused"));
}

TEST_CASE("a name that does not resolve says so") {
  Node client;
  // RFC 6761: .invalid never resolves.
  const ConnectionId out = client.transport->connect(Address{{}, "nowhere.invalid", 4711});
  REQUIRE(client.recorder.wait_closed(out));
  const Error error = client.recorder.ending(out);
  CHECK(error.code == ErrorCode::kUnreachable);
  CHECK(mentions(error, "nowhere.invalid:4711"));
}

TEST_CASE("a server that never answers is given up after the connect timeout") {
  const Listening deaf = deaf_listener();
  Options options;
  options.connect_timeout = 50ms;
  Node client(options);
  const ConnectionId out = client.transport->connect(Address{{}, "127.0.0.1", deaf.address.port()});
  REQUIRE(client.recorder.wait_closed(out));
  const Error error = client.recorder.ending(out);
  CHECK(error.code == ErrorCode::kUnreachable);
  CHECK(mentions(error, "50 ms"));
}

TEST_CASE("closing a connection that is still being made ends it as cancelled") {
  const Listening deaf = deaf_listener();
  Node client;
  const ConnectionId out = client.transport->connect(Address{{}, "127.0.0.1", deaf.address.port()});
  client.transport->close(out);
  REQUIRE(client.recorder.wait_closed(out));
  CHECK(client.recorder.ending(out).code == ErrorCode::kCancelled);
}

TEST_CASE("a port in use is an error that names the port") {
  Node first;
  Node second;
  for (const std::string host : {"127.0.0.1", ""}) {
    const Address where = first.listen(host);
    const auto result = second.transport->listen(Address{{}, host, where.port});
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == ErrorCode::kExists);
    CHECK(mentions(result.error(), "port " + std::to_string(where.port)));
  }
}

TEST_CASE("listening where this machine is not is bad input") {
  Node node;
  for (const std::string host : {"192.0.2.1", "nowhere.invalid"}) {
    const auto result = node.transport->listen(Address{{}, host, 0});
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == ErrorCode::kBadInput);
    CHECK(mentions(result.error(), host));
  }
}

TEST_CASE("a silent connection is closed after the idle timeout, on both sides") {
  Options options;
  options.idle_timeout = 50ms;
  Node server;
  Node client(options);
  const ConnectionId out = client.transport->connect(server.listen());
  REQUIRE(client.recorder.wait_closed(out));
  CHECK(client.recorder.connection(out).open);
  CHECK(client.recorder.ending(out).code == ErrorCode::kIo);
  CHECK(mentions(client.recorder.ending(out), "nothing received"));
  const ConnectionId in = server.recorder.wait_first();
  REQUIRE(server.recorder.wait_closed(in));
  CHECK(server.recorder.ending(in).code == ErrorCode::kIo);
}

TEST_CASE("accepting stops at the connection limit and goes on when there is room") {
  Options options;
  options.connection_count_max = 2;
  Node server(options);
  Node client;
  const Address where = server.listen();
  const ConnectionId first = client.transport->connect(where);
  const ConnectionId second = client.transport->connect(where);
  REQUIRE(client.recorder.wait_open(first));
  REQUIRE(client.recorder.wait_open(second));
  const ConnectionId third = client.transport->connect(where);
  client.transport->close(first);
  REQUIRE(client.recorder.wait_closed(first));
  REQUIRE(client.recorder.wait_open(third));
  CHECK(server.recorder.wait([](const auto& all) { return all.size() == 3; }));
}

TEST_CASE("connections spread over several I/O threads all work") {
  Options options;
  options.io_threads = 2;
  Node server(options);
  Node client(options);
  const Address where = server.listen();
  std::vector<ConnectionId> outs;
  for (int i = 0; i < 8; ++i) outs.push_back(client.transport->connect(where));
  for (const ConnectionId out : outs) REQUIRE(client.recorder.wait_open(out));
  for (const ConnectionId out : outs)
    client.transport->send(out, frame_of(Bytes{static_cast<std::uint8_t>(out)}));
  REQUIRE(server.recorder.wait([](const auto& all) {
    return std::count_if(all.begin(), all.end(),
                         [](auto& one) { return one.second.frames.size() == 1; }) == 8;
  }));
}

TEST_CASE("a new connection comes to live where none does") {
  Options options;
  options.io_threads = 3;
  Node server;
  Node client(options);
  const Address where = server.listen();
  std::vector<ConnectionId> outs;
  for (int i = 0; i < 6; ++i) outs.push_back(client.transport->connect(where));
  for (const ConnectionId out : outs) REQUIRE(client.recorder.wait_open(out));
  for (std::size_t thread = 3; thread-- > 0;) {
    for (const ConnectionId out : outs) {
      if (client.transport->thread_of(out) != thread) continue;
      client.transport->close(out);
      REQUIRE(client.recorder.wait_closed(out));
    }
    const ConnectionId next = client.transport->connect(where);
    CHECK(client.transport->thread_of(next) == thread);
    REQUIRE(client.recorder.wait_open(next));
  }
}

TEST_CASE("a peer that goes away ends its connections elsewhere") {
  Node server;
  const Address where = server.listen();
  {
    Node client;
    REQUIRE(client.recorder.wait_open(client.transport->connect(where)));
    REQUIRE(server.recorder.wait_open(server.recorder.wait_first()));
  }
  const ConnectionId in = server.recorder.wait_first();
  REQUIRE(server.recorder.wait_closed(in));
  CHECK(server.recorder.ending(in).code == ErrorCode::kIo);
}

}  // namespace
}  // namespace firn::proto::transport::test
