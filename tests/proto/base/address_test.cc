#include "proto/base/address.h"

#include <doctest/doctest.h>

#include <string>

using namespace firn;

namespace {

std::string peer_id_text() {
  PeerId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(i * 7);
  return id.text();
}

}  // namespace

TEST_CASE("addresses of every form are read and written back") {
  const std::string id = peer_id_text();
  for (const std::string& text :
       {std::string("example.org:7000"), std::string("127.0.0.1:1"), std::string("[::1]:65535"),
        std::string("[2001:db8::7]:7000"), std::string("[fe80::1%eth0]:7000"), id + "@tracker:80",
        id + "@[::1]:80", std::string("my_host-2.lan:9")}) {
    CAPTURE(text);
    const auto address = parse_address(text);
    REQUIRE(address.ok());
    CHECK(to_text(*address) == text);
    CHECK(is_destination(*address));
    CHECK(address->id.has_value() == (text.find('@') != std::string::npos));
  }
}

TEST_CASE("the host stands without its brackets") {
  const auto address = parse_address(peer_id_text() + "@[2001:db8::7]:7001");
  REQUIRE(address.ok());
  CHECK(address->host == "2001:db8::7");
  CHECK(address->port == 7001);
  CHECK(address->id->text() == peer_id_text());
}

TEST_CASE("addresses to listen at are read, but are no destinations") {
  for (const char* text : {":7000", "*:7000", "*:0", ":0", "localhost:0", "[::]:0"}) {
    CAPTURE(text);
    const auto address = parse_address(text);
    REQUIRE(address.ok());
    CHECK(to_text(*address) == text);
    CHECK_FALSE(is_destination(*address));
  }
}

TEST_CASE("a malformed address gets an error that says what is wrong and shows the right form") {
  const std::string id = peer_id_text();
  const struct {
    std::string text;
    const char* says;
  } cases[] = {
      {"", "port is missing"},
      {"example.org", "port is missing"},
      {"[::1]", "port is missing"},
      {"example.org:", "port is not a number"},
      {"example.org:65536", "port is not a number"},
      {"example.org:-1", "port is not a number"},
      {"example.org:70x", "port is not a number"},
      {"example.org: 70", "port is not a number"},
      {"::1:7000", "needs brackets"},
      {"[::1:7000", "needs brackets"},
      {"[example.org]:7000", "no IPv6 address in the brackets"},
      {"[::1%]:7000", "no IPv6 address in the brackets"},
      {"[::1%a b]:7000", "no IPv6 address in the brackets"},
      {std::string("[::1\0x]:7000", 12), "no IPv6 address in the brackets"},
      {"[]:7000", "neither a name"},
      {"exa mple:7000", "neither a name"},
      {"a..b:7000", "neither a name"},
      {"-a:7000", "neither a name"},
      {"http://a:7000", "needs brackets"},
      {"a/b:7000", "neither a name"},
      {std::string("a\0b:1", 5), "neither a name"},
      {"@a:7000", "ID before '@'"},
      {id.substr(1) + "@a:7000", "ID before '@'"},
      {id + "@" + id + "@a:7000", "neither a name"},
      {std::string(400, 'a') + ":1", "too long"},
      {std::string(254, 'a') + ":1", "neither a name"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const auto address = parse_address(c.text);
    REQUIRE_FALSE(address.ok());
    CHECK(address.error().code == ErrorCode::kBadInput);
    CHECK(address.error().detail.find(c.says) != std::string::npos);
    CHECK(address.error().detail.find("HOST:PORT") != std::string::npos);
    CAPTURE(address.error().detail);
  }
}

TEST_CASE("an address without a port gets the one it stands for") {
  const std::string id = peer_id_text();
  const struct {
    std::string text;
    const char* host;
  } cases[] = {{"example.org", "example.org"},   {"192.0.2.1", "192.0.2.1"},
               {"[2001:db8::7]", "2001:db8::7"}, {id + "@example.org", "example.org"},
               {id + "@[::1]", "::1"},           {"*", "*"}};
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const auto address = parse_address(c.text, kDefaultPort);
    REQUIRE(address.ok());
    CHECK(address->host == c.host);
    CHECK(address->port == 4711);
    CHECK(to_text(*address) == c.text + ":4711");
    CHECK_FALSE(parse_address(c.text).ok());
  }
  CHECK(parse_address("example.org:7000", kDefaultPort)->port == 7000);
  CHECK(parse_address("example.org", 0)->port == 0);
}

TEST_CASE("a default port makes nothing else of an address acceptable") {
  for (const std::string& text :
       {std::string(), peer_id_text() + "@", std::string("example.org:"), std::string("::1"),
        std::string("2001:db8::7"), std::string("[example.org]"), std::string("a b"),
        std::string("[]"), std::string("a..b"), std::string("example.org:x")}) {
    CAPTURE(text);
    const auto address = parse_address(text, kDefaultPort);
    REQUIRE_FALSE(address.ok());
    CHECK(address.error().code == ErrorCode::kBadInput);
  }
}

TEST_CASE("an address in an error is fit for a terminal") {
  const auto address = parse_address("a\x1b[31m\xff:1");
  REQUIRE_FALSE(address.ok());
  CHECK(address.error().operation.find('\x1b') == std::string::npos);
  CHECK(address.error().operation.find('\xff') == std::string::npos);
}

TEST_CASE("a network is an IPv4 address or an IPv6 /64") {
  CHECK(network_of("192.0.2.1") == network_of("192.0.2.1"));
  CHECK(network_of("192.0.2.1") != network_of("192.0.2.2"));
  CHECK(network_of("2001:db8::1") == network_of("2001:db8::ffff:1"));
  CHECK(network_of("2001:db8::1") != network_of("2001:db8:0:1::1"));
}

TEST_CASE("a prefix is what one provider hands out, and a name is its own") {
  CHECK(prefix_of("192.0.2.1") == prefix_of("192.0.2.254"));
  CHECK(prefix_of("192.0.2.1") != prefix_of("192.0.3.1"));
  CHECK(prefix_of("2001:db8::1") == prefix_of("2001:db8:0:ffff::1"));
  CHECK(prefix_of("2001:db8::1") != prefix_of("2001:db8:1::1"));
  CHECK(prefix_of("a.example") != prefix_of("b.example"));
}
