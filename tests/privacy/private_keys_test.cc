#include "client/privacy/private_keys.h"

#include <doctest/doctest.h>

#include <string>

#include "sample_keys.h"

namespace firn::privacy {
namespace {

using test::sample_content;
using test::sample_keys;
using test::sample_secret;

std::string hex(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

PeerId peer(std::uint8_t fill) {
  PeerId id;
  id.bytes.fill(fill);
  return id;
}

struct Wire {
  std::array<std::uint8_t, 32> binding{};
  explicit Wire(std::uint8_t fill) { binding.fill(fill); }
  Session session() const { return {binding, peer(0xc1), peer(0xa1)}; }
};

TEST_CASE("keys and proofs are those of the document, made with another program") {
  const PrivateKeys keys = sample_keys();
  CHECK(hex(keys.rendezvous().bytes) ==
        "d47b183558d69a1eb1467bfe48d3d31ceb142be8fcad5bd7f403f95bfb48a38e");
  CHECK(hex(keys.manifest_key()) ==
        "225eae195af6798fb1fe208a6700d93ee52be9580734ceb93e7b42ab0ee2db2f");
  const Wire wire(0xb1);
  CHECK(hex(keys.proof(Side::kCaller, wire.session())) ==
        "8682fde3dfa28d4ffb63eda8cd63556a4d57ef5bae0ce870996c75dbc8daf6fb");
  CHECK(hex(keys.proof(Side::kAnswerer, wire.session())) ==
        "2bf709ad0bfc426d569bafbaba21c4f12a2c05ef5c84349b972773ff1c9a8b59");
}

TEST_CASE("a proof is good on its side of its session alone") {
  const PrivateKeys keys = sample_keys();
  const Wire wire(0xb1), other(0xb2);
  const Proof proof = keys.proof(Side::kCaller, wire.session());
  CHECK(keys.proves(proof, Side::kCaller, wire.session()));
  CHECK_FALSE(keys.proves(proof, Side::kAnswerer, wire.session()));  // sent back
  CHECK_FALSE(keys.proves(proof, Side::kCaller, other.session()));   // passed on
  Session swapped = wire.session(), stranger = wire.session();
  std::swap(swapped.caller, swapped.answerer);
  stranger.caller = peer(0x33);
  CHECK_FALSE(keys.proves(proof, Side::kCaller, swapped));
  CHECK_FALSE(keys.proves(proof, Side::kCaller, stranger));
}

TEST_CASE("a proof with any bit changed, or of another secret or content, proves nothing") {
  const PrivateKeys keys = sample_keys();
  const Wire wire(0xb1);
  const Proof proof = keys.proof(Side::kCaller, wire.session());
  for (std::size_t bit = 0; bit < 8 * limits::kPrivateProofBytes; ++bit) {
    Proof changed = proof;
    changed[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    CHECK_FALSE(keys.proves(changed, Side::kCaller, wire.session()));
  }
  ContentId other_content = sample_content();
  other_content.bytes[31] ^= 1;
  for (const PrivateKeys& other : {PrivateKeys(ContentSecret::generate(), sample_content()),
                                   PrivateKeys(sample_secret(), other_content)}) {
    CHECK(other.rendezvous() != keys.rendezvous());
    CHECK_FALSE(other.proves(proof, Side::kCaller, wire.session()));
  }
}

}  // namespace
}  // namespace firn::privacy
