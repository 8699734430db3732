#include "proto/content/link.h"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <string>

#include "proto/base/base64url.h"
#include "proto/content/origin_url.h"
#include "tests/privacy/sample_keys.h"

using namespace firn;

namespace {

std::string id_text() {
  ContentId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(i * 5);
  return id.text();
}

std::string other_key_text() {
  PublicKey key;
  key.bytes.fill(7);
  return key.text();
}

}  // namespace

TEST_CASE("a link comes back as it was written") {
  const std::string id = id_text();
  for (const std::string& text :
       {"firn:" + id, "firn:" + id + "/tr=example.org:7000",
        "firn:" + id + "/tr=a:1/tr=" + id + "@b:2/peer=c:3/peer=::1:4",
        "firn:" + id + "/peer=fe80::1+eth0:4", "firn:" + id + "/peer=" + id + "@2001:db8::1:7000",
        "firn:" + id + "/peer=1:2:3:4:5:6:7:8:9", "firn:" + id + "/pub=" + id,
        "firn:" + id + "/pub=" + id + "/tr=a:1/peer=c:3",
        "firn:" + id + "/ws=aHR0cDovL2EuZXhhbXBsZS94",
        "firn:" + id + "/pub=" + id + "/tr=a:1/peer=c:3/ws=czM6Ly9iL2svPz8_/ws=aHR0cDovL2E"}) {
    CAPTURE(text);
    const auto link = parse_link(text);
    REQUIRE(link.ok());
    CHECK(link->content_id.text() == id);
    CHECK(to_text(*link) == text);
  }
}

TEST_CASE("links are read in every spelling that means the same") {
  const std::string id = id_text();
  const auto expected = parse_link("firn:" + id + "/tr=::1:7000/peer=a.b:1");
  REQUIRE(expected.ok());
  CHECK(expected->trackers == std::vector{Address{{}, "::1", 7000}});
  CHECK(expected->peers == std::vector{Address{{}, "a.b", 1}});
  std::string loud = id;
  for (char& c : loud)
    if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
  for (const std::string& text :
       {"firn:" + id + "/peer=a.b:1/tr=::1:7000",
        " \tFIRN:" + loud + "/TR=::1:7000/Peer=a.b:1/\r\n",
        "firn:" + id + "/x=/dn=a+name:@_-./tr=::1:7000/pubs=no-key/peer=a.b:1",
        "firn:" + id + "/tr=::1:7000?peer=a.b:1", "firn:" + id + "/peer=a.b:1/?tr=[::1]:7000/",
        "firn:" + id + "/tr=::1:7000/peer=a.b:1#part/tr=bad",
        // Those of programs that know no other form.
        "FIRN:" + loud + "?tr=[::1]:7000&peer=a.b:1",
        "firn:" + id + "?peer=a.b:1&tr=%5b%3A%3a1%5D%3A7000",
        "firn:" + id + "?&&tr=[::1]:7000&dn=a+name%21&x&=&peer=%61.b:1&",
        "firn:" + id + "?t%72=[::1]:7000&peer=a.b:1#part?tr=bad"}) {
    CAPTURE(text);
    CHECK(looks_like_link(text));
    const auto link = parse_link(text);
    REQUIRE(link.ok());
    CHECK(to_text(*link) == to_text(*expected));
  }
}

TEST_CASE("what both forms of a mixed link name is joined, that of the new form first") {
  const std::string id = id_text();
  const auto link = parse_link("firn:" + id + "/tr=a:1/peer=b:2?tr=c:3&pub=" + id +
                               "&peer=%5Bfe80::1%25en0%5D:4");
  REQUIRE(link.ok());
  CHECK(to_text(*link) ==
        "firn:" + id + "/pub=" + id + "/tr=a:1/tr=c:3/peer=b:2/peer=fe80::1+en0:4");
  CHECK_FALSE(parse_link("firn:" + id + "/pub=" + id + "?pub=" + other_key_text()).ok());
}

TEST_CASE("addresses in links mean port 4711 where they name none, and are written with it") {
  const std::string id = id_text();
  for (const std::string& text : {"firn:" + id + "/tr=example.org/tr=b:2?peer=%5B::1%5D",
                                  "firn:" + id + "?tr=example.org&tr=b:2&peer=%5B::1%5D"}) {
    const auto link = parse_link(text);
    REQUIRE(link.ok());
    CHECK(to_text(*link) == "firn:" + id + "/tr=example.org:4711/tr=b:2/peer=::1:4711");
  }
}

namespace {

struct Malformed {
  std::string text;
  const char* says;
};

void check_refused(const std::vector<Malformed>& links) {
  for (const Malformed& one : links) {
    CAPTURE(one.text);
    const auto link = parse_link(one.text);
    REQUIRE_FALSE(link.ok());
    CHECK(link.error().code == ErrorCode::kBadInput);
    CAPTURE(link.error().detail);
    CHECK(link.error().detail.find(one.says) != std::string::npos);
    CHECK(link.error().detail.find("firn:CONTENT_ID/tr=HOST:PORT") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a malformed link gets an error that says what is wrong and shows the right form") {
  const std::string id = id_text();
  std::string parts = "firn:" + id;
  for (int i = 0; i < 65; ++i) parts += "/peer=a:1";
  check_refused({
      {parts, "more than 64"},
      {"firn:" + id + "/x=" + std::string(70'000, 'x'), "too long"},
      {"firn:/tr=a:1", "no content id"},
      {"firn:" + id.substr(1) + "/tr=a:1", "no content id"},
      {"firn:" + id + "a/tr=a:1", "no content id"},
      {"firn:" + id + "//tr=a:1", "NAME=VALUE"},
      {"firn:" + id + "/tr", "NAME=VALUE"},
      {"firn:" + id + "/=a:1", "NAME=VALUE"},
      {"firn:" + id + "/x=a=b", "NAME=VALUE"},
      {"firn:" + id + "/x=$(id)", "NAME=VALUE"},
      {"firn:" + id + "/x=a b", "NAME=VALUE"},
      {"firn:" + id + "/x=\xc3\xbc", "NAME=VALUE"},
      {"firn:" + id + "/tr=a:1&tr=b:1", "NAME=VALUE"},
      {"firn:" + id + "/tr=[::1]:7000", "NAME=VALUE"},
      {"firn:" + id + "/tr=a%2Eb:1", "NAME=VALUE"},
      {"firn:" + id + "/tr=", "[ID@]HOST:PORT"},
      {"firn:" + id + "/tr=::1", "without brackets, as in"},
      {"firn:" + id + "/tr=2001:db8::1:port", "[ID@]HOST:PORT"},
      {"firn:" + id + "/tr=fe80::1+:1", "[ID@]HOST:PORT"},
      {"firn:" + id + "/tr=fe80::1+a+b:1", "[ID@]HOST:PORT"},
      {"firn:" + id + "/tr=a+b:1", "[ID@]HOST:PORT"},
      {"firn:" + id + "/tr=a:70000", "[ID@]HOST:PORT"},
      {"firn:" + id + "/tr=x@a:1", "[ID@]HOST:PORT"},
      {"firn:" + id + "/tr=a:b@c:1", "[ID@]HOST:PORT"},
      {"firn:" + id + "/tr=:1", "no host or no port"},
      {"firn:" + id + "/peer=a:0", "no host or no port"},
      {"firn:" + id + "/pub=", "no key as firn keygen prints one"},
      {"firn:" + id + "/pub=" + PublicKey{}.text(), "no key as firn keygen prints one"},
      {"firn:" + id + "/pub=" + id + "/pub=" + other_key_text(), "two publishers"},
      {"firn:" + id + "/tr=a:1?pub=x", "no key as firn keygen prints one"},
  });
}

TEST_CASE("a malformed link of the older form gets such an error too") {
  const std::string id = id_text();
  std::string many = "firn:" + id + "?";
  for (int i = 0; i < 65; ++i) many += "tr=a:1&";
  check_refused({
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
      {"firn:" + id + "?pub=", "no key as firn keygen prints one"},
      {"firn:" + id + "?pub=" + id + "a", "no key as firn keygen prints one"},
      {"firn:" + id + "?pub=" + id.substr(1) + "1", "no key as firn keygen prints one"},
      {"firn:" + id + "?pub=" + id + "&pub=" + other_key_text(), "two publishers"},
      {"firn:" + id + "?x=" + std::string(70'000, 'x'), "too long"},
  });
}

TEST_CASE("a malformed origin in a link is refused, and no error repeats it") {
  const std::string firn = "firn:" + id_text();
  const auto part = [](std::string_view url) { return "ws=" + base64url_encode(url); };
  std::string many;
  for (int i = 0; i < 17; ++i) many += "/" + part("http://a");
  std::vector<Malformed> links;
  for (const char* head : {"/", "/tr=a:1/", "?", "?tr=a:1&", "?t%72=a:1&"}) {
    for (const char* text : {"a", "aHR0cDovL2F", "aHR0cDovL2E.", "aHR0cDovL2+"})
      links.push_back({firn + head + "ws=" + text, "base64url without padding"});
    links.push_back({firn + head + "ws=", "it begins with none of https://"});
    links.push_back({firn + head + "ws=aHR0cDovL2E=", head[0] == '/' ? "NAME=VALUE" : "padding"});
    links.push_back({firn + head + part("ftp://a.example/"), "it begins with none of https://"});
    links.push_back({firn + head + part("http://a.example/#x"), "must be encoded"});
    links.push_back({firn + head + part("http://user:secret@a.example/"), "user name"});
  }
  links.push_back({firn + many, "more than 16"});
  links.push_back({firn + "/W" + part("http://user:secret@a.example/").substr(1), "user name"});
  links.push_back({firn + "/ws=aHR0cDovL3VzZXI6c2VjcmV0QGE/x/peer=a:1", "user name"});
  check_refused(links);
  for (const Malformed& one : links) {
    CAPTURE(one.text);
    for (const std::string& text : {one.text, one.text.substr(5)})
      CHECK(parse_link(text).error().message().find("aHR0cDov") == std::string::npos);
  }
}

TEST_CASE("a program that knows no origins reads a link that names some") {
  // To such a program "ws" is another name that it does not know, so its value must be one that
  // parts with unknown names may have.
  std::string urls = "firn:" + id_text();
  for (int byte = 0x21; byte < 0x7f; ++byte)
    if (const std::string url = std::string("http://a/") + static_cast<char>(byte) + ">>~~";
        check_origin_text(url.substr(0, 10)).ok())
      urls += "/unknown=" + base64url_encode(url);
  CHECK(parse_link(urls + "/tr=a:1")->trackers.size() == 1);
}

TEST_CASE("what means to be a link is told from a file name") {
  CHECK(looks_like_link("firn:"));
  CHECK(looks_like_link("Firn:whatever"));
  CHECK(looks_like_link("\n firn:x "));
  CHECK_FALSE(looks_like_link("firn"));
  CHECK_FALSE(looks_like_link("my.firn"));
  CHECK_FALSE(looks_like_link("./firn:x"));
  CHECK_FALSE(looks_like_link(""));
}

namespace {

template <typename Bytes>
void fill(Bytes& bytes, std::mt19937& random) {
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
}

std::string random_word(std::mt19937& random, std::string_view characters, std::size_t most) {
  std::string word;
  for (std::size_t i = 1 + random() % most; i > 0; --i)
    word += characters[random() % characters.size()];
  return word;
}

// A name, an IPv4 address, or an IPv6 address in any of its spellings, with a zone or without.
std::string random_host(std::mt19937& random) {
  static constexpr std::string_view kWord = "abcxyzABCXYZ0123456789_-",
                                    kHex = "0123456789abcdefABCDEF";
  const auto group = [&] { return random_word(random, kHex, 4); };
  switch (random() % 6) {
    case 0:
      return "h" + random_word(random, kWord, 30) + "." + random_word(random, kWord, 20);
    case 1:
      return std::to_string(random() % 256) + ".0.2." + std::to_string(random() % 256);
    case 2:
      return "::ffff:192.0.2." + std::to_string(random() % 256);
    case 3:
      return "fe80::" + group() + "%" + random_word(random, "abz019-_.", 32);
    case 4:
      return group() + "::" + (random() % 2 ? group() : "");
    default:
      std::string host = group();
      for (int i = 0; i < 7; ++i) host += ":" + group();
      return host;
  }
}

Link random_link(std::mt19937& random) {
  Link link;
  fill(link.content_id.bytes, random);
  for (auto* list : {&link.trackers, &link.peers})
    for (unsigned i = random() % 5; i > 0; --i) {
      Address address{{}, random_host(random), static_cast<std::uint16_t>(1 + random() % 65535)};
      if (random() % 2) fill(address.id.emplace().bytes, random);
      list->push_back(address);
    }
  if (random() % 2) fill(link.publisher.emplace().bytes, random);
  if (random() % 2) link.secret = ContentSecret::generate();
  for (unsigned i = random() % 4; i > 0; --i)
    link.origins.push_back("https://h.example/" + random_word(random, "abcxyzABC019/?&=~-_.!", 60));
  return link;
}

}  // namespace

TEST_CASE("every link comes back, and no character in it means anything to a shell") {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    const Link link = random_link(random);
    const std::string text = to_text(link);
    CAPTURE(text);
    CHECK(text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "-._:@+/=") == std::string::npos);
    const auto parsed = parse_link(text);
    REQUIRE(parsed.ok());
    CHECK(parsed->content_id == link.content_id);
    CHECK(parsed->publisher == link.publisher);
    CHECK(parsed->trackers == link.trackers);
    CHECK(parsed->peers == link.peers);
    CHECK(parsed->secret == link.secret);
    CHECK(parsed->origins == link.origins);
    CHECK(without_secrets(text).find(".") == (link.secret ? 57 : text.find(".")));
  }
}

namespace {

// Made with another program.
constexpr const char* kSecretText = "aaaqeayeaudaocajbifqydiob4ibceqtcqkrmfyydenbwha5dypx6lpn";

}  // namespace

TEST_CASE("a private link carries its secret behind the content id") {
  const std::string text = "firn:" + id_text() + "." + kSecretText + "/tr=a:1";
  const auto link = parse_link(text);
  REQUIRE(link.ok());
  CHECK(link->secret == privacy::test::sample_secret());
  CHECK(link->content_id.text() == id_text());
  CHECK(to_text(*link) == text);
  std::string loud = text;
  for (char& c : loud)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  CHECK(parse_link(loud)->secret == privacy::test::sample_secret());
  CHECK_FALSE(parse_link("firn:" + id_text())->secret);
}

TEST_CASE("a private link that was damaged on its way is told, and its secret is not repeated") {
  const std::string whole = "firn:" + id_text() + "." + kSecretText;
  for (const std::string rest : {"/tr=a:1", "?tr=a:1"})
    for (std::size_t at = 5; at < whole.size(); ++at)
      for (const char c : {'q', 'r', '/', '?', '=', '+', ' ', '.'}) {
        std::string changed = whole;
        if (changed[at] == c || (at == 57 && c == '?')) continue;  // that is a public link's query
        changed[at] = c;
        CAPTURE(changed);
        const auto link = parse_link(changed + rest);
        REQUIRE_FALSE(link.ok());
        const std::string message = link.error().message();
        CHECK(message.find("ocajbifqydiob4") == std::string::npos);
        CHECK(message.find(rest) != std::string::npos);
      }
  for (const std::size_t bytes : {whole.size() - 1, whole.size() - 20, std::size_t{58}}) {
    const auto cut = parse_link(whole.substr(0, bytes));
    REQUIRE_FALSE(cut.ok());
    CHECK(cut.error().message().find("copy the whole link") != std::string::npos);
  }
  for (const std::string& lost :
       {"firn:." + std::string(kSecretText) + "/tr=a:1", id_text() + "." + kSecretText + "/tr=a:1"})
    CHECK(parse_link(lost).error().message().find("ocajbifqydiob4") == std::string::npos);
  ContentId other;
  CHECK_FALSE(parse_link("firn:" + other.text() + "." + kSecretText).ok());
}

TEST_CASE("logs and errors hide the secrets, tokens and passwords that a person typed") {
  const std::string id = id_text(), secret = kSecretText;
  for (const std::string& before : {"firn:" + id, id, "open '" + id}) {
    CHECK(without_secrets(before + "." + secret) == before + "....");
    CHECK(without_secrets(before + "." + secret + "?tr=a:1 x") == before + "....?tr=a:1 x");
    CHECK(without_secrets(before + "." + secret + "/tr=a:1 x") == before + "..../tr=a:1 x");
    CHECK(without_secrets(before + "." + secret.substr(3) + "'") == before + "....'");
  }
  CHECK(without_secrets("page: http://127.0.0.1:1/#token=a-Z.9_~ x") ==
        "page: http://127.0.0.1:1/#token=... x");
  CHECK(without_secrets("#token=ab") == "#token=..");
  CHECK(without_secrets("GET 'https://me:p@ss@host/a@b' failed") ==
        "GET 'https://...@host/a@b' failed");
  CHECK(without_secrets("http://host/a s3://b/me@c") == "http://host/a s3://b/me@c");
  CHECK(without_secrets("--origin=HTTPS://me:it's@host/a") == "--origin=HTTPS://...@host/a");
  CHECK(without_secrets("https://host/a?v=1234&sig='x'y=z&c2VjcmV0cw==&#x") ==
        "https://host/a?v=...&sig=...&...#x");
  CHECK(without_secrets(R"({"message":"'a' of \"http://h/?k=1234\"","x":1})") ==
        R"({"message":"'a' of \"http://h/?k=...\"","x":1})");
  CHECK(without_secrets("('s3://b/c?id=1234': S3://b/?id=1234, \"http://h/?k=1234\" a?b=c)") ==
        "('s3://b/c?id=...': S3://b/?id=..., \"http://h/?k=...\" a?b=c)");
  for (const std::string user : {"user:pass@w0rd", ":pass/word", "password", "user:a b"}) {
    CHECK(without_secrets("redis://" + user + "@host:1/0") == "redis://...@host:1/0");
    CHECK(without_secrets("--redis=rediss://" + user + "@[::1]:1") ==
          "--redis=rediss://...@[::1]:1");
    CHECK(without_secrets("unix://" + user + "@/run/r?1") == "unix://...@/run/r?1");
  }
  for (const std::string& harmless :
       {std::string(), id, std::string("#token="), std::string("/token=abc"),
        std::string("redis://host:1/0"), std::string("unix:///run/r?1"), id + "@host:1",
        "firn:" + id + "?tr=a.b:1", "firn:" + id + "/pub=" + id + "/tr=a.b:1", id + ".firn",
        std::string("http://h/?a=...: b"), secret + " " + secret, "dir/" + id + "/data.tar.gz",
        "a." + secret})
    CHECK(without_secrets(harmless) == harmless);
}
