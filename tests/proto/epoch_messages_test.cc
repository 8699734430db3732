// Epochs and what is said about them: as docs/protocol.md prints them, their bounds, and
// signatures.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <string>

#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/content/authority.h"
#include "proto/epoch_signature.h"
#include "proto/messages.h"
#include "proto/wire.h"
#include "proto/wire_fields.h"
#include "tests/proto/document.h"
#include "tests/proto/hex.h"
#include "tests/proto/wire_frames.h"

using namespace firn;
using namespace firn::proto;
using namespace firn::test;

namespace {

using Key = std::array<std::uint8_t, 32>;

Key rising(std::uint8_t first) {
  Key key{};
  std::iota(key.begin(), key.end(), first);
  return key;
}

ContentId content() {
  ContentId id;
  id.bytes = rising(0);
  return id;
}

Nonce nonce_from(const std::string& hex) {
  const std::string raw = from_hex(hex);
  Nonce nonce{};
  std::copy(raw.begin(), raw.end(), nonce.begin());
  return nonce;
}

// The one of docs/protocol.md.
Epoch sample_epoch() {
  const Key key = rising(0), speaker = rising(0x20);
  const PeerId id = *PeerId::from_bytes(sha256(as_bytes(*public_key_of(speaker))).raw());
  Epoch epoch;
  epoch.certificate = *make_certificate(content(), id, rising(0x40));
  epoch.number = 3;
  epoch.time_us = 5'000'000;
  epoch.key.assign(key.begin(), key.end());
  epoch.alarm = true;
  epoch.sums = {{3, {0x16, 0x61, 0x0e, 0x9f, 0xc1, 0x6f, 0x97, 0x2a}}};
  epoch.heard = {{nonce_from("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), 250'000}};
  epoch.convicted = {PeerId{rising(0x60)}};
  sign_epoch(epoch, content(), speaker);
  return epoch;
}

void check(const char* name, const PeerMessage& message) {
  CAPTURE(name);
  const std::string printed = hex_example("protocol.md", name);
  CHECK(to_hex(whole(serialize(message))) == printed);
  CHECK(*parse_peer_message(bytes_of(from_hex(printed).substr(4))) == message);
}

template <typename Change>
bool taken(Change change) {
  wire::PeerMessage message;
  const std::string valid = message_in(serialize(PeerMessage(sample_epoch())));
  REQUIRE(message.ParseFromString(valid));
  change(*message.mutable_epoch());
  return parse_peer_message(bytes_of(message.SerializeAsString())).ok();
}

}  // namespace

TEST_CASE("epochs, requests and proofs are sent as docs/protocol.md prints them") {
  State told;
  told.acknowledged = 7;
  told.credit = 300;
  told.epoch = 3;
  told.wants_epochs = true;
  told.convicted = {0xa1a2a3a4a5a6a7a8};
  check("state_epoch", told);
  check("epoch", sample_epoch());
  const Nonce nonce = nonce_from("000102030405060708090a0b0c0d0e0f");
  check("epoch_request", EpochRequest{nonce, true, {3, 7}});
  check("epoch_proof", EpochProof{3,
                                  {{nonce},
                                   {nonce_from("d7fdab75ae8133c5add49d08b80a827f"),
                                    nonce_from("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")}}});
}

TEST_CASE("an epoch's signature covers all that it says, and the content") {
  const Epoch epoch = sample_epoch();
  CHECK(epoch_signed(epoch, content()));
  CHECK(certified(*public_key_of(rising(0x40)), content(), speaker_of(epoch), epoch.certificate));
  ContentId other = content();
  other.bytes[31] ^= 1;
  CHECK_FALSE(epoch_signed(epoch, other));
  const auto still = [&](auto change) {
    Epoch changed = epoch;
    change(changed);
    return epoch_signed(changed, content());
  };
  CHECK_FALSE(still([](Epoch& e) { ++e.number; }));
  CHECK_FALSE(still([](Epoch& e) { --e.time_us; }));
  CHECK_FALSE(still([](Epoch& e) { e.key[31] ^= 1; }));
  CHECK_FALSE(still([](Epoch& e) { e.alarm = false; }));
  CHECK_FALSE(still([](Epoch& e) { ++e.sums[0].generation; }));
  CHECK_FALSE(still([](Epoch& e) { e.sums[0].sums.pop_back(); }));
  CHECK_FALSE(still([](Epoch& e) { e.sums.clear(); }));
  CHECK_FALSE(still([](Epoch& e) { ++e.heard[0].age_us; }));
  CHECK_FALSE(still([](Epoch& e) { e.heard[0].nonce[0] ^= 1; }));
  CHECK_FALSE(still([](Epoch& e) { e.heard.clear(); }));
  CHECK_FALSE(still([](Epoch& e) { e.convicted.pop_back(); }));
  CHECK_FALSE(still([](Epoch& e) { e.convicted[0].bytes[31] ^= 1; }));
  CHECK_FALSE(still([](Epoch& e) { e.speaker.bytes[0] ^= 1; }));
}

TEST_CASE("epochs out of bounds are refused") {
  CHECK(taken([](auto&) {}));
  CHECK_FALSE(taken([](auto& e) { e.set_speaker(std::string(31, 's')); }));
  CHECK_FALSE(taken([](auto& e) { e.clear_certificate(); }));
  CHECK_FALSE(taken([](auto& e) { e.set_number(0); }));
  CHECK(taken([](auto& e) { e.clear_convicted(); }));
  CHECK(taken([](auto& e) { e.set_convicted(std::string(128 * 32, 'c')); }));
  CHECK_FALSE(taken([](auto& e) { e.set_convicted(std::string(129 * 32, 'c')); }));
  CHECK_FALSE(taken([](auto& e) { e.set_convicted(std::string(33, 'c')); }));
  CHECK(taken([](auto& e) { e.set_time((std::uint64_t{1} << 61) - 1); }));
  CHECK_FALSE(taken([](auto& e) { e.set_time(std::uint64_t{1} << 61); }));
  CHECK_FALSE(taken([](auto& e) { e.set_key(std::string(33, 'k')); }));
  CHECK_FALSE(taken([](auto& e) { e.set_signature(std::string(63, 's')); }));
  CHECK_FALSE(taken([](auto& e) { e.mutable_sums(0)->clear_sums(); }));
  CHECK_FALSE(
      taken([](auto& e) { e.mutable_sums(0)->set_generation(limits::kGenerationCountMax); }));
  CHECK_FALSE(taken([](auto& e) { *e.add_sums() = e.sums(0); }));  // the same one twice
  CHECK_FALSE(taken([](auto& e) { e.mutable_heard(0)->set_nonce(std::string(15, 'n')); }));
  const auto with_sums = [](std::size_t count, std::size_t bytes) {
    return taken([&](auto& e) {
      e.clear_sums();
      for (std::size_t g = 0; g < count; ++g) {
        auto& one = *e.add_sums();
        one.set_generation(static_cast<std::uint32_t>(g));
        one.set_sums(std::string(bytes, 's'));
      }
    });
  };
  CHECK(with_sums(limits::kEpochSumsMax, 4));
  CHECK_FALSE(with_sums(limits::kEpochSumsMax + 1, 4));
  CHECK_FALSE(with_sums(limits::kEpochSumsMax, 1024));  // more than an Epoch may have
  const auto with_heard = [](std::size_t count) {
    return taken([&](auto& e) {
      while (e.heard_size() < static_cast<int>(count)) *e.add_heard() = e.heard(0);
    });
  };
  CHECK(with_heard(limits::kEpochHeardMax));
  CHECK_FALSE(with_heard(limits::kEpochHeardMax + 1));
}

TEST_CASE("a state names a bounded number of convicted peers") {
  const auto state = [](std::size_t count) {
    wire::PeerMessage message;
    for (std::size_t i = 0; i < count; ++i) message.mutable_state()->add_convicted(i);
    return parse_peer_message(bytes_of(message.SerializeAsString())).ok();
  };
  CHECK(state(limits::kConvictedMax));
  CHECK_FALSE(state(limits::kConvictedMax + 1));
}

TEST_CASE("requests and proofs out of bounds are refused") {
  const auto request = [](std::size_t nonce, std::size_t count, std::uint32_t g) {
    wire::PeerMessage message;
    message.mutable_epoch_request()->set_nonce(std::string(nonce, 'n'));
    for (std::size_t i = 0; i < count; ++i) message.mutable_epoch_request()->add_wanted(g);
    return parse_peer_message(bytes_of(message.SerializeAsString())).ok();
  };
  CHECK(request(0, 0, 0));
  CHECK(request(16, limits::kEpochWantedMax, limits::kGenerationCountMax - 1));
  CHECK_FALSE(request(15, 0, 0));
  CHECK_FALSE(request(17, 0, 0));
  CHECK_FALSE(request(16, limits::kEpochWantedMax + 1, 0));
  CHECK_FALSE(request(16, 1, limits::kGenerationCountMax));
  const auto proof = [](std::size_t lists, std::size_t bytes) {
    wire::PeerMessage message;
    message.mutable_epoch_proof();
    for (std::size_t i = 0; i < lists; ++i)
      message.mutable_epoch_proof()->add_lists(std::string(bytes, 'n'));
    return parse_peer_message(bytes_of(message.SerializeAsString())).ok();
  };
  CHECK(proof(1, 16));
  CHECK(proof(limits::kEpochProofListsMax, 16 * limits::kEpochProofNoncesMax));
  CHECK_FALSE(proof(0, 0));
  CHECK_FALSE(proof(limits::kEpochProofListsMax + 1, 16));
  CHECK_FALSE(proof(1, 0));
  CHECK_FALSE(proof(1, 17));
  CHECK_FALSE(proof(1, 16 * (limits::kEpochProofNoncesMax + 1)));
}
