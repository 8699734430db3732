// Nonces on their way to the authority, and which rows an Epoch judges.
#include "client/core/authority_clock.h"
#include "tests/core/epoch_fixture.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

namespace {

using Slots = std::vector<std::uint32_t>;

constexpr PeerKey kFrom = 1, kFirstToAsk = 2, kLastToAsk = 6;

// Epochs come from kFrom.
struct TimeFixture : EpochFixture {
  explicit TimeFixture(core::Options options = large_mesh_options())
      : EpochFixture(std::move(options)) {
    begin();
    for (PeerKey peer = kFrom; peer <= kLastToAsk; ++peer) {
      join(peer, numbered(static_cast<std::uint32_t>(peer)), 0, true);
    }
    pass(300 * kMillisecond);
    say(kFrom, epoch(1));
  }
  // The requests that went towards the authority.
  std::vector<proto::EpochRequest> sent() { return heard<proto::EpochRequest>(kFrom); }
  // The next one, which has a nonce.
  proto::Nonce next_nonce() {
    const auto requests = sent();
    REQUIRE(requests.size() == 1);
    REQUIRE(requests[0].nonce);
    return *requests[0].nonce;
  }
  proto::Epoch naming(std::uint64_t number, TimeUs at, const proto::Nonce& nonce, TimeUs age) {
    proto::Epoch made = unsigned_epoch(number);
    made.time_us = at;
    made.heard = {{nonce, static_cast<std::uint32_t>(age)}};
    return said(std::move(made));
  }
  Slots to_judge() {
    Slots all;
    for (const core::JudgeRows& action : take<core::JudgeRows>()) {
      all.insert(all.end(), action.slots.begin(), action.slots.end());
    }
    return all;
  }
};

}  // namespace

TEST_CASE("a row is judged only by a key told after it came, to the microsecond") {
  for (const bool too_late : {false, true}) {
    CAPTURE(too_late);
    TimeFixture fixture;
    const TimeUs sent_at = fixture.now;
    const proto::Nonce nonce = fixture.next_nonce();
    fixture.pass(250 * kMillisecond);
    const TimeUs heard_at = 2000 * kSecond;  // by the speaker's clock
    fixture.say(kFrom, fixture.naming(2, heard_at + 10, nonce, 10));
    fixture.pass(50 * kMillisecond);
    fixture.say(kFirstToAsk, fixture.block(0, 1, 0));
    core::AuthorityClock clock;
    clock.heard(sent_at, heard_at, fixture.now);
    const TimeUs came = fixture.now;
    fixture.pass(10 * kMillisecond);
    proto::Epoch next = fixture.unsigned_epoch(3);
    // At this time of the speaker's the row may just have been made by who knew the key.
    next.time_us = *clock.latest(came) + (too_late ? 0 : 1);
    fixture.say(kFrom, fixture.said(next));
    CHECK(fixture.to_judge() == (too_late ? Slots{} : Slots{0}));
    fixture.pass(kSecond);
    CHECK(fixture.to_judge().empty());
  }
}

TEST_CASE("rows that come after the key was told are never judged by it") {
  TimeFixture fixture;
  const proto::Nonce nonce = fixture.next_nonce();
  fixture.say(kFirstToAsk, fixture.block(0, 1, 0));
  fixture.pass(kSecond);
  fixture.say(kFrom, fixture.naming(2, fixture.voice_time(), nonce, 900'000));
  CHECK(fixture.to_judge() == Slots{0});
  fixture.say(kFirstToAsk, fixture.block(0, 2, 1));  // forged with the key that has just been told
  fixture.core.rows_judged(0, {0}, {}, true, fixture.now);
  fixture.pass(kSecond);
  CHECK(fixture.to_judge().empty());
  fixture.say(kFrom, fixture.said(fixture.unsigned_epoch(4)));
  CHECK(fixture.to_judge() == Slots{1});
}

TEST_CASE("an epoch that came before the answer about the clock judges once it is there") {
  TimeFixture fixture;
  fixture.say(kFirstToAsk, fixture.block(0, 1, 0));
  const proto::Nonce nonce = fixture.next_nonce();
  fixture.pass(kSecond);
  fixture.say(kFrom, fixture.epoch(2));
  CHECK(fixture.to_judge().empty());
  fixture.say(kFrom, fixture.naming(3, fixture.voice_time(), nonce, 0));
  CHECK(fixture.to_judge().empty());  // it may have come as late as that
  fixture.pass(kSecond);
  fixture.say(kFrom, fixture.epoch(4));
  CHECK(fixture.to_judge() == Slots{0});
}

TEST_CASE("rows are not judged by a bound from before our clock stood still") {
  TimeFixture fixture;
  const proto::Nonce nonce = fixture.next_nonce();
  fixture.pass(kSecond);
  fixture.say(kFrom, fixture.naming(2, fixture.voice_time(), nonce, 0));
  fixture.say(kFirstToAsk, fixture.block(0, 1, 0));
  fixture.pass(kSecond);
  // The machine was suspended for an hour: the row may have been made with this key.
  const TimeUs away = 3600 * kSecond;
  proto::Epoch next = fixture.unsigned_epoch(3);
  next.time_us += away;
  fixture.say(kFrom, fixture.said(next));
  CHECK(fixture.to_judge().empty());
  const auto requests = fixture.sent();  // for another bound
  REQUIRE_FALSE(requests.empty());
  REQUIRE(requests.back().nonce);
  fixture.pass(kSecond);
  fixture.say(kFrom,
              fixture.naming(4, fixture.voice_time() + away, *requests.back().nonce, 900'000));
  CHECK(fixture.to_judge() == Slots{0});
}

TEST_CASE("while no epoch names our nonce nothing is judged, whatever else is named") {
  TimeFixture fixture;
  fixture.say(kFirstToAsk, fixture.block(0, 1, 0));
  proto::Nonce nonce = fixture.next_nonce();
  nonce[7] ^= 1;
  fixture.pass(kSecond);
  fixture.say(kFrom, fixture.naming(2, 2000 * kSecond, nonce, 900'000));
  fixture.say(kFrom, fixture.epoch(3));
  CHECK(fixture.to_judge().empty());
}

TEST_CASE("the nonces of neighbours go on as one, and each gets proof of its own") {
  TimeFixture fixture;
  fixture.sent();
  fixture.pass(policy::kNonceGather);
  fixture.sent();
  for (PeerKey peer = kFirstToAsk; peer <= kLastToAsk; ++peer) {
    fixture.say(peer, proto::EpochRequest{nonce_of(static_cast<std::uint8_t>(peer))});
  }
  fixture.pass(policy::kNonceGather);
  auto requests = fixture.sent();
  REQUIRE(requests.size() == 2);  // the first, and the rest that came within the time
  std::size_t proven = 0;
  for (std::uint64_t i = 0; i < 2; ++i) {
    fixture.say(kFrom, fixture.naming(2 + i, 2000 * kSecond, *requests[i].nonce, 5));
    for (PeerKey peer = kFirstToAsk; peer <= kLastToAsk; ++peer) {
      for (const proto::EpochProof& proof : fixture.heard<proto::EpochProof>(peer)) {
        ++proven;
        CHECK(proof.epoch == 2 + i);
        REQUIRE(proof.lists.size() == 1);
        const auto& list = proof.lists[0];
        const auto own = nonce_of(static_cast<std::uint8_t>(peer));
        CHECK(std::count(list.begin(), list.end(), own) == 1);
        CHECK(hash_of(list) == *requests[i].nonce);
      }
    }
  }
  CHECK(proven == kLastToAsk - kFirstToAsk + 1);
}

TEST_CASE("a proof that leads over several relays to an epoch is handed on with one list more") {
  TimeFixture fixture;
  fixture.say(kLastToAsk, proto::EpochRequest{nonce_of(9)});
  fixture.sent();
  fixture.pass(policy::kNonceGather);
  const auto requests = fixture.sent();
  REQUIRE_FALSE(requests.empty());
  const std::vector<proto::Nonce> inner = {nonce_of(1), *requests.back().nonce};
  const std::vector<proto::Nonce> outer = {hash_of(inner), nonce_of(2)};
  fixture.say(kFrom, fixture.naming(2, 2000 * kSecond, hash_of(outer), 5));
  fixture.say(kFrom, proto::EpochProof{2, {inner, outer}});
  CHECK_FALSE(fixture.punished(kFrom));
  const auto proofs = fixture.heard<proto::EpochProof>(kLastToAsk);
  REQUIRE(proofs.size() == 1);
  REQUIRE(proofs[0].lists.size() == 3);
  CHECK(proofs[0].lists[1] == inner);
  CHECK(proofs[0].lists[2] == outer);
}

TEST_CASE("a proof that does not lead to its epoch convicts its sender of a lie") {
  for (int kind = 0; kind < 3; ++kind) {
    CAPTURE(kind);
    TimeFixture fixture;
    const proto::Nonce nonce = fixture.next_nonce();
    const std::vector<proto::Nonce> list = {nonce};
    fixture.say(kFrom, fixture.naming(2, 2000 * kSecond, hash_of(list), 5));
    std::vector<std::vector<proto::Nonce>> lists = {list};
    if (kind == 0) lists = {{nonce_of(1), nonce}};
    if (kind == 1) lists = {list, list};
    if (kind == 2) lists = {{nonce_of(1)}};
    fixture.say(kFrom, proto::EpochProof{2, lists});
    CHECK(fixture.punished(kFrom));
    fixture.say(kFirstToAsk, fixture.block(0, 1, 0));
    fixture.say(kFirstToAsk, fixture.epoch(9));
    CHECK(fixture.to_judge().empty());
  }
}

TEST_CASE("a neighbour that sends nonces without end does not keep out those of others") {
  TimeFixture fixture;
  fixture.sent();
  std::size_t named = 0;
  for (int second = 0; second < 5; ++second) {
    for (std::uint8_t i = 0; i < 200; ++i)
      fixture.say(kFirstToAsk, proto::EpochRequest{nonce_of(i)});
    fixture.say(kLastToAsk, proto::EpochRequest{nonce_of(static_cast<std::uint8_t>(201 + second))});
    fixture.pass(kSecond);
    const auto requests = fixture.sent();
    CHECK(requests.size() <= static_cast<std::size_t>(kSecond / policy::kNonceGather) + 1);
    for (const proto::EpochRequest& request : requests) {
      if (!request.nonce) continue;
      const auto number = static_cast<std::uint64_t>(2 + named++);
      fixture.say(kFrom, fixture.naming(number, 2000 * kSecond, *request.nonce, 5));
    }
    CHECK(fixture.heard<proto::EpochProof>(kLastToAsk).size() == 1);
  }
}

TEST_CASE("nonces cannot be foretold by who knows the seed of all other choices") {
  const auto drawn = [](std::uint8_t secret) {
    core::Options options = large_mesh_options();
    options.nonce_secret.fill(secret);
    TimeFixture fixture(options);
    return fixture.next_nonce();
  };
  CHECK(drawn(1) == drawn(1));
  CHECK(drawn(1) != drawn(2));
}

TEST_CASE("a false row raises the alarm, and alarms of others are passed on") {
  TimeFixture fixture;
  fixture.sent();
  fixture.pass(kSecond);
  for (const proto::EpochRequest& request : fixture.sent()) CHECK_FALSE(request.alarm);
  fixture.say(kFirstToAsk, proto::EpochRequest{std::nullopt, true, {3}});
  fixture.pass(kSecond);
  const auto requests = fixture.sent();
  REQUIRE_FALSE(requests.empty());
  CHECK(std::any_of(requests.begin(), requests.end(), [](const proto::EpochRequest& request) {
    return request.alarm && request.wanted == Slots{3};
  }));
  fixture.pass(kSecond);
  for (const proto::EpochRequest& request : fixture.sent()) CHECK_FALSE(request.alarm);
  for (std::uint32_t i = 0; i < EpochFixture::kBlocks; ++i) {
    fixture.say(kFirstToAsk, fixture.block(0, 1 + i, i));
  }
  fixture.core.generation_decoded(0, core::DecodeOutcome::kCorrupt, fixture.now);
  fixture.pass(kSecond);
  const auto own = fixture.sent();
  CHECK(std::any_of(own.begin(), own.end(),
                    [](const proto::EpochRequest& request) { return request.alarm; }));
}
