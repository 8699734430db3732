// Connections that a proxy passes on: they count as coming from where its header says.
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <atomic>
#include <string>

#include "tests/transport/proxy_headers.h"
#include "tests/transport/stranger.h"

namespace firn::proto::transport::test {
namespace {

struct ProxyRecorder : Recorder {
  std::string refused() {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, kPatience, [this] { return !complaint.empty(); });
    return complaint;
  }
  void on_proxy_refused(const Error& error) override {
    const std::lock_guard lock(mutex);
    complaint = error.message();
    changed.notify_all();
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::string complaint;
};

// Takes headers from 127.0.0.1 and answers every frame.
struct Behind {
  explicit Behind(const char* proxies = "127.0.0.1", std::size_t connections = 4096) {
    Options options;
    options.proxies = {AddressRange::parse(proxies).value()};
    options.connection_count_max = connections;
    recorder.frame_hook = [this](ConnectionId id, std::span<const std::uint8_t>) -> Status {
      transport->send(id, frame_of(Bytes{1}));
      return Done{};
    };
    transport = Transport::start(identity, recorder, options).value();
    where = transport->listen(Address{{}, "127.0.0.1", 0}).value();
  }
  PeerInfo first() { return recorder.connection(recorder.wait_first()).info; }

  Identity identity = Identity::generate().value();
  ProxyRecorder recorder;
  std::unique_ptr<Transport> transport;
  Address where;
};

void put(const Stranger& stranger, const Bytes& bytes) {
  REQUIRE(::send(stranger.socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(bytes.size()));
}

TEST_CASE("a connection that a proxy passes on comes from where its header says") {
  Behind server;
  Stranger stranger(server.where);
  stranger.present(Identity::generate().value());
  std::string ip;
  SUBCASE("IPv4") {
    put(stranger, proxy_header(0x21, 0x11, kIpv4Addresses));
    ip = "192.0.2.33";
  }
  SUBCASE("IPv6") {
    put(stranger, proxy_header(0x21, 0x21, kIpv6Addresses));
    ip = "2001:db8::33";
  }
  SUBCASE("a byte at a time") {
    for (const std::uint8_t byte : proxy_header(0x21, 0x11, kIpv4Addresses)) put(stranger, {byte});
    ip = "192.0.2.33";
  }
  CHECK(stranger.is_accepted());
  CHECK(server.first().ip == ip);
  CHECK(server.first().port == 4097);
}

TEST_CASE("a connection of the proxy itself comes from the proxy") {
  Behind server;
  Stranger stranger(server.where);
  stranger.present(Identity::generate().value());
  SUBCASE("LOCAL") {
    put(stranger, proxy_header(0x20, 0x00, {}));
  }
  SUBCASE("UNIX") {
    put(stranger, proxy_header(0x21, 0x31, Bytes(216, 'p')));
  }
  CHECK(stranger.is_accepted());
  CHECK(server.first().ip == "127.0.0.1");
}

TEST_CASE("a proxy's connection without a header is refused, and the user is told") {
  Behind server;
  Stranger stranger(server.where);
  stranger.present(Identity::generate().value());
  SUBCASE("TLS at once") {
    CHECK_FALSE(stranger.is_accepted());
  }
  SUBCASE("a header of another version") {
    put(stranger, proxy_header(0x11, 0x11, kIpv4Addresses));
    CHECK(ends(stranger.socket));
  }
  SUBCASE("the end within a header") {
    put(stranger, {0x0d, 0x0a, 0x0d});
    ::shutdown(stranger.socket.fd(), SHUT_WR);
    CHECK(ends(stranger.socket));
  }
  CHECK(server.recorder.refused().find("PROXY header from 127.0.0.1") != std::string::npos);
  CHECK(server.recorder.count() == 0);
}

TEST_CASE("a header of an address that is no proxy's is refused") {
  Behind server("192.0.2.0/24");
  Stranger stranger(server.where);
  stranger.present(Identity::generate().value());
  SUBCASE("and TLS without one is taken") {
    CHECK(stranger.is_accepted());
    CHECK(server.first().ip == "127.0.0.1");
  }
  SUBCASE("also before TLS") {
    put(stranger, proxy_header(0x21, 0x11, kIpv4Addresses));
    CHECK_FALSE(stranger.is_accepted());
    CHECK(server.recorder.count() == 0);
  }
}

TEST_CASE("bounds on a network hold for what is behind the proxy, not for the proxy") {
  Behind server("127.0.0.1", 64);  // 16 of a network
  std::vector<std::unique_ptr<Stranger>> kept;
  const auto is_accepted = [&](std::uint8_t last_of_ip) {
    kept.push_back(std::make_unique<Stranger>(server.where));
    kept.back()->present(Identity::generate().value());
    Bytes addresses = kIpv4Addresses;
    addresses[3] = last_of_ip;
    put(*kept.back(), proxy_header(0x21, 0x11, addresses));
    return kept.back()->is_accepted();
  };
  for (int i = 0; i < 16; ++i) CHECK(is_accepted(1));
  CHECK_FALSE(is_accepted(1));
  for (int i = 0; i < 16; ++i) CHECK(is_accepted(2));
}

TEST_CASE("a transport goes down while headers are awaited") {
  std::optional<Behind> server(std::in_place);
  const Stranger silent(server->where);
  put(silent, {0x0d, 0x0a});
  Stranger another(server->where);
  another.present(Identity::generate().value());
  put(another, proxy_header(0x21, 0x11, kIpv4Addresses));
  CHECK(another.is_accepted());  // so the first was accepted, too
  server.reset();
  CHECK(ends(silent.socket));
}

TEST_CASE("few connections wait for headers at a time") {
  Behind server("127.0.0.1", 64);  // 16 of them
  std::vector<Socket> silent;
  for (int i = 0; i < 17; ++i) silent.push_back(plain_connection(server.where));
  CHECK(server.recorder.refused().find("too many wait") != std::string::npos);
}

}  // namespace
}  // namespace firn::proto::transport::test
