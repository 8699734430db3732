#include "proto/content/link.h"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <string>

#include "tests/privacy/sample_keys.h"

using namespace firn;

namespace {

std::string id_text() {
  ContentId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(i * 5);
  return id.text();
}

}  // namespace

TEST_CASE("a link comes back as it was written") {
  const std::string id = id_text();
  for (const std::string& text :
       {"firn:" + id, "firn:" + id + "?tr=example.org:7000",
        "firn:" + id + "?tr=a:1&tr=" + id + "@b:2&peer=c:3&peer=%5B::1%5D:4",
        "firn:" + id + "?peer=%5Bfe80::1%25eth0%5D:4", "firn:" + id + "?pub=" + id,
        "firn:" + id + "?tr=a:1&peer=c:3&pub=" + id}) {
    const auto link = parse_link(text);
    REQUIRE(link.ok());
    CHECK(link->content_id.text() == id);
    CHECK(to_text(*link) == text);
  }
}

TEST_CASE("links are read in every spelling that means the same") {
  const std::string id = id_text();
  const auto expected = parse_link("firn:" + id + "?tr=%5B::1%5D:7000&peer=a.b:1");
  REQUIRE(expected.ok());
  std::string loud = id;
  for (char& c : loud)
    if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
  for (const std::string& text : {"FIRN:" + loud + "?tr=[::1]:7000&peer=a.b:1",
                                  "firn:" + id + "?peer=a.b:1&tr=%5b%3A%3a1%5D%3A7000",
                                  "firn:" + id + "?&&tr=[::1]:7000&dn=a+name%21&x&=&peer=%61.b:1&",
                                  "firn:" + id + "?t%72=[::1]:7000&peer=a.b:1#part?tr=bad"}) {
    CAPTURE(text);
    const auto link = parse_link(text);
    REQUIRE(link.ok());
    CHECK(to_text(*link) == to_text(*expected));
  }
}

TEST_CASE("addresses in links mean port 4711 where they name none, and are written with it") {
  const std::string id = id_text();
  const auto link = parse_link("firn:" + id + "?tr=example.org&tr=b:2&peer=%5B::1%5D");
  REQUIRE(link.ok());
  CHECK(to_text(*link) == "firn:" + id + "?tr=example.org:4711&tr=b:2&peer=%5B::1%5D:4711");
}

TEST_CASE("a malformed link gets an error that says what is wrong and shows the right form") {
  const std::string id = id_text();
  std::string many = "firn:" + id + "?";
  for (int i = 0; i < 65; ++i) many += "tr=a:1&";
  const struct {
    std::string text;
    const char* says;
  } cases[] = {
      {"", "does not begin"},
      {"magnet:?xt=urn", "does not begin"},
      {"firn", "does not begin"},
      {"firn:", "no content id"},
      {"firn:?tr=a:1", "no content id"},
      {"firn://" + id, "no content id"},
      {"firn:" + id.substr(1), "no content id"},
      {"firn:" + id + "a", "no content id"},
      {"firn:" + id + "&tr=a:1", "no content id"},
      {"firn:" + id.substr(0, 51) + "%zz", "no content id"},
      {"firn:" + id + "?tr=", "host is missing"},
      {"firn:" + id + "?tr", "host is missing"},
      {"firn:" + id + "?tr=a:0", "no host or no port"},
      {"firn:" + id + "?peer=:1", "no host or no port"},
      {"firn:" + id + "?tr=a:1&peer=b:x", "not a number"},
      {"firn:" + id + "?tr=a:1%", "two hexadecimal"},
      {"firn:" + id + "?tr=a:1%2", "two hexadecimal"},
      {"firn:" + id + "?tr=%g0a:1", "two hexadecimal"},
      {"firn:" + id + "?tr=a%00b:1", "neither a name"},
      {"firn:" + id + "?tr=a+b:1", "neither a name"},
      {many, "more than 64"},
      {"firn:" + id + "?pub=", "no key of 52"},
      {"firn:" + id + "?pub=" + id + "a", "no key of 52"},
      {"firn:" + id + "?pub=" + id.substr(1) + "1", "no key of 52"},
      {"firn:" + id + "?pub=" + id + "&pub=" + PublicKey{}.text(), "two publishers"},
      {"firn:" + id + "?x=" + std::string(70'000, 'x'), "too long"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const auto link = parse_link(c.text);
    REQUIRE_FALSE(link.ok());
    CHECK(link.error().code == ErrorCode::kBadInput);
    CAPTURE(link.error().detail);
    CHECK(link.error().detail.find(c.says) != std::string::npos);
    CHECK(link.error().detail.find("firn:CONTENT_ID?tr=HOST:PORT") != std::string::npos);
  }
}

TEST_CASE("what means to be a link is told from a file name") {
  CHECK(looks_like_link("firn:"));
  CHECK(looks_like_link("Firn:whatever"));
  CHECK_FALSE(looks_like_link("firn"));
  CHECK_FALSE(looks_like_link("my.firn"));
  CHECK_FALSE(looks_like_link("./firn:x"));
  CHECK_FALSE(looks_like_link(""));
}

TEST_CASE("random links come back") {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    Link link;
    for (auto& byte : link.content_id.bytes) byte = static_cast<std::uint8_t>(random());
    for (auto* list : {&link.trackers, &link.peers})
      for (unsigned i = random() % 5; i > 0; --i) {
        Address address;
        if (random() % 2) address.id = PeerId{link.content_id.bytes};
        static constexpr const char* kHosts[] = {"::1", "fe80::2%en0", "10.0.0.1", "a-b_c.example"};
        address.host = kHosts[random() % 4];
        address.port = static_cast<std::uint16_t>(1 + random() % 65535);
        list->push_back(address);
      }
    if (random() % 2) link.publisher = PublicKey{link.content_id.bytes};
    const auto parsed = parse_link(to_text(link));
    REQUIRE(parsed.ok());
    CHECK(parsed->content_id == link.content_id);
    CHECK(parsed->publisher == link.publisher);
    CHECK(parsed->trackers == link.trackers);
    CHECK(parsed->peers == link.peers);
  }
}

namespace {

// Made with another program.
constexpr const char* kSecretText = "aaaqeayeaudaocajbifqydiob4ibceqtcqkrmfyydenbwha5dypx6lpn";

}  // namespace

TEST_CASE("a private link carries its secret behind the content id") {
  const std::string text = "firn:" + id_text() + "." + kSecretText + "?tr=a:1";
  const auto link = parse_link(text);
  REQUIRE(link.ok());
  CHECK(link->secret == privacy::test::sample_secret());
  CHECK(link->content_id.text() == id_text());
  CHECK(to_text(*link) == text);
  std::string loud = text;
  for (char& c : loud)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  CHECK(parse_link(loud.substr(0, loud.find('?')))->secret == privacy::test::sample_secret());
  CHECK_FALSE(parse_link("firn:" + id_text())->secret);
}

TEST_CASE("a private link that was damaged on its way is told, and its secret is not repeated") {
  const std::string whole = "firn:" + id_text() + "." + kSecretText;
  for (std::size_t at = 5; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = changed[at] == 'q' ? 'r' : 'q';
    const auto link = parse_link(changed + "?tr=a:1");
    CAPTURE(changed);
    REQUIRE_FALSE(link.ok());
    CHECK(link.error().message().find("ocajbifqydiob4") == std::string::npos);
    CHECK(link.error().message().find("?tr=a:1") != std::string::npos);
  }
  for (const std::size_t bytes : {whole.size() - 1, whole.size() - 20, std::size_t{58}}) {
    const auto cut = parse_link(whole.substr(0, bytes));
    REQUIRE_FALSE(cut.ok());
    CHECK(cut.error().message().find("copy the whole link") != std::string::npos);
  }
  ContentId other;
  CHECK_FALSE(parse_link("firn:" + other.text() + "." + kSecretText).ok());
}

TEST_CASE("logs and errors hide the secrets of links that a person typed") {
  const std::string id = id_text(), secret = kSecretText;
  for (const std::string& before : {"firn:" + id, id, "open '" + id}) {
    CHECK(without_secrets(before + "." + secret) == before + "....");
    CHECK(without_secrets(before + "." + secret + "?tr=a:1 x") == before + "....?tr=a:1 x");
    CHECK(without_secrets(before + "." + secret.substr(3) + "'") == before + "....'");
  }
  for (const std::string& harmless :
       {std::string(), id, "firn:" + id + "?tr=a.b:1", id + ".firn", secret + " " + secret,
        "dir/" + id + "/data.tar.gz", "a." + secret})
    CHECK(without_secrets(harmless) == harmless);
}
