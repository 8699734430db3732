#include "proto/base/ids.h"

#include <doctest/doctest.h>

#include <random>
#include <unordered_set>

using namespace firn;

namespace {

std::string encode(std::string_view text) {
  return base32_encode({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace

TEST_CASE("base32 is RFC 4648's, in lower case and without padding") {
  CHECK(encode("") == "");
  CHECK(encode("f") == "my");
  CHECK(encode("fo") == "mzxq");
  CHECK(encode("foo") == "mzxw6");
  CHECK(encode("foob") == "mzxw6yq");
  CHECK(encode("fooba") == "mzxw6ytb");
  CHECK(encode("foobar") == "mzxw6ytboi");
}

TEST_CASE("an id comes back from its text in either case") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    PeerId id;
    for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(random());
    std::string text = id.text();
    CHECK(text.size() == 52);
    CHECK(PeerId::from_text(text) == id);
    for (char& c : text)
      if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
    CHECK(PeerId::from_text(text) == id);
  }
}

TEST_CASE("one id has one text") {
  // 52 characters are 260 bits: of the last character only the first bit belongs to the id.
  const std::string zeros(51, 'a');
  CHECK(ContentId::from_text(zeros + "a"));
  CHECK(ContentId::from_text(zeros + "q"));  // 16: the first bit alone
  for (const char c : std::string("bcdefghijklmnoprstuvwxyz234567"))
    CHECK_FALSE(ContentId::from_text(zeros + c));
}

TEST_CASE("texts of another length or alphabet are no ids") {
  const std::string good = ContentId{}.text();
  CHECK_FALSE(ContentId::from_text(""));
  CHECK_FALSE(ContentId::from_text(good.substr(1)));
  CHECK_FALSE(ContentId::from_text(good + "a"));
  CHECK_FALSE(ContentId::from_text(good + "===="));
  for (const char bad : {'0', '1', '8', '9', '=', ' ', '-', '\0', '\xff'}) {
    std::string text = good;
    text[20] = bad;
    CHECK_FALSE(ContentId::from_text(text));
  }
}

TEST_CASE("an id is made of exactly 32 bytes") {
  CHECK_FALSE(Digest::from_bytes(std::string(31, 'x')));
  CHECK_FALSE(Digest::from_bytes(std::string(33, 'x')));
  const auto id = Digest::from_bytes(std::string(32, 'x'));
  REQUIRE(id);
  CHECK(id->raw() == std::string(32, 'x'));
  CHECK(std::unordered_set<Digest>{*id, Digest{}, *id}.size() == 2);
}
