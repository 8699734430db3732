// Claims about blocks: what a signature covers, and how claims travel.
#include "proto/block_claim.h"

#include <doctest/doctest.h>

#include <array>
#include <numeric>

#include "proto/base/digest.h"
#include "proto/wire.h"
#include "proto/wire_fields.h"
#include "tests/proto/document.h"
#include "tests/proto/hex.h"
#include "tests/proto/wire_frames.h"

using namespace firn;
using namespace firn::proto;
using namespace firn::test;

namespace {

using Secret = std::array<std::uint8_t, kSigningKeyBytes>;

template <typename Bytes>
Bytes counted_from(std::uint8_t first) {
  Bytes bytes{};
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

ContentId claimed_content() {
  return {counted_from<Secret>(0)};
}

// As docs/protocol.md has it.
const Secret& claim_secret() {
  static const Secret key = counted_from<Secret>(0x20);
  return key;
}

Claimant claimant() {
  return {claimed_content(), *PublicKey::from_bytes(*public_key_of(claim_secret())),
          claim_secret()};
}

Block coded_block() {
  Block block;
  block.generation = 3;
  block.sequence = 5;
  block.coefficients = {1, 2, 3, 4};
  block.payload = Payload::copy_of(bytes_of("snow"));
  block.claim = make_claim(block, claimant());
  return block;
}

FalseClaim claim_of(const Block& block) {
  return {block.generation, block.source_index, block.coefficients, *block.claim};
}

template <typename Change>
bool still_taken(const PeerMessage& valid, Change change) {
  wire::PeerMessage message;
  REQUIRE(message.ParseFromString(message_in(serialize(valid))));
  change(message);
  return parse_peer_message(bytes_of(message.SerializeAsString())).ok();
}

}  // namespace

TEST_CASE("a claim is about one block of one content, and one payload") {
  const Block block = coded_block();
  CHECK(claim_fits(block, claimed_content()));
  CHECK(claim_signed(claim_of(block), claimed_content()));
  CHECK(claimant_of(*block.claim) ==
        *PeerId::from_bytes(sha256(as_bytes(*public_key_of(claim_secret()))).raw()));
  ContentId other = claimed_content();
  other.bytes[0] ^= 1;
  CHECK_FALSE(claim_fits(block, other));
  const auto still = [&](auto change) {
    Block changed = block;
    change(changed);
    return claim_fits(changed, claimed_content());
  };
  CHECK(still([](Block& b) { ++b.sequence; }));
  CHECK_FALSE(still([](Block& b) { ++b.generation; }));
  CHECK_FALSE(still([](Block& b) { b.coefficients[3] ^= 1; }));
  CHECK_FALSE(still([](Block& b) { b.coefficients.push_back(0); }));
  CHECK_FALSE(still([](Block& b) { b.source_index = 0; }));
  CHECK_FALSE(still([](Block& b) { b.payload = Payload::copy_of(bytes_of("firn")); }));
  CHECK_FALSE(still([](Block& b) { b.claim->payload.bytes[0] ^= 1; }));
  CHECK_FALSE(still([](Block& b) { b.claim->signature[63] ^= 1; }));
  CHECK_FALSE(still([](Block& b) { b.claim->key.bytes[0] ^= 1; }));
  CHECK_FALSE(still([](Block& b) { b.claim.reset(); }));
}

TEST_CASE("a claim about a source block is not one about a vector of the same bytes") {
  Block block = coded_block();
  block.source_index = 0x01020304;
  block.claim = make_claim(block, claimant());
  CHECK(claim_fits(block, claimed_content()));
  block.source_index.reset();
  CHECK_FALSE(claim_fits(block, claimed_content()));
}

TEST_CASE("false claims are sent as docs/protocol.md prints them") {
  const FalseClaim claim = claim_of(coded_block());
  const std::string printed = hex_example("protocol.md", "false_claim");
  CHECK(to_hex(whole(serialize(PeerMessage(claim)))) == printed);
  CHECK(*parse_peer_message(bytes_of(from_hex(printed).substr(4))) == PeerMessage(claim));
}

TEST_CASE("claims of the wrong size and false claims about nothing are refused") {
  const PeerMessage block(coded_block());
  CHECK(still_taken(block, [](auto&) {}));
  CHECK(still_taken(block, [](auto& m) { m.mutable_block()->clear_claim(); }));
  CHECK_FALSE(still_taken(block, [](auto& m) { m.mutable_block()->mutable_claim()->pop_back(); }));
  CHECK_FALSE(
      still_taken(block, [](auto& m) { m.mutable_block()->mutable_claim()->push_back(0); }));
  const PeerMessage claim(claim_of(coded_block()));
  const auto accepts = [&](auto change) {
    return still_taken(claim, [&](auto& m) { change(*m.mutable_false_claim()); });
  };
  CHECK(accepts([](auto&) {}));
  CHECK(accepts([](auto& c) { c.set_source_index(0); }));
  CHECK_FALSE(accepts([](auto& c) { c.clear_coefficients(); }));
  CHECK_FALSE(accepts([](auto& c) { c.set_coefficients(std::string(4097, 'c')); }));
  CHECK_FALSE(accepts([](auto& c) { c.set_source_index(4096); }));
  CHECK_FALSE(accepts([](auto& c) { c.set_generation(1 << 20); }));
  CHECK_FALSE(accepts([](auto& c) { c.clear_claim(); }));
  CHECK_FALSE(accepts([](auto& c) { c.mutable_claim()->push_back(0); }));
}
