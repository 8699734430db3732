// Newcomers from a network that several convicted peers have come from.
#include "client/core/probation.h"

#include "client/core/parts.h"
#include "client/core/policy/constants.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Probation;
using proto::GoodbyeReason;
namespace policy = core::policy;

namespace {

const std::string kSharedAddress = "192.0.2.7", kOtherAddress = "192.0.2.8";

// A peer that downloads.
class Downloader {
 public:
  Downloader() : parts_(vouched_manifest(4, 8, 64).id, plain_options(), kSecond) {
    parts_.start(vouched_manifest(4, 8, 64).info);
  }
  core::Neighbour& join(PeerKey key, const std::string& ip) {
    core::Neighbour* n = parts_.membership.opened(key, numbered(key), ip, 4000, 0, true);
    REQUIRE(n);
    return *n;
  }
  // `count` peers come from kSharedAddress and are found out.
  void convict(int count) {
    for (int i = 0; i < count; ++i, ++key_) {
      join(key_, kSharedAddress);
      parts_.membership.punish(numbered(key_), GoodbyeReason::kBanned, "sent a false block");
    }
  }
  // What it is granted with the first State.
  std::uint32_t granted(core::Neighbour& n) {
    parts_.outbox.take();
    parts_.transfer->granting.greet(n);
    for (const core::Action& action : parts_.outbox.take()) {
      const auto* send = std::get_if<core::Send>(&action);
      const auto* state = send ? std::get_if<proto::State>(&send->message) : nullptr;
      if (state) return state->credit;
    }
    return 0;
  }
  core::Parts& parts() { return parts_; }

 private:
  core::Parts parts_;
  PeerKey key_ = 100;
};

}  // namespace

TEST_CASE("three convicted peers of one network put its newcomers on probation, and no others") {
  Probation probation;
  for (std::uint8_t i = 1; i <= 3; ++i) {
    CHECK(probation.rows_to_prove(kSharedAddress, kSecond) == 0);
    probation.convicted(peer_id(i), kSharedAddress, kSecond);
    probation.convicted(peer_id(i), kSharedAddress, kSecond);  // the same one again
  }
  CHECK(probation.rows_to_prove(kSharedAddress, kSecond) == policy::kProbationRows);
  CHECK(probation.rows_to_prove(kOtherAddress, kSecond) == 0);
  // An IPv6 network is a /64.
  for (std::uint8_t i = 1; i <= 3; ++i)
    probation.convicted(peer_id(i), "2001:db8::" + std::to_string(i), kSecond);
  CHECK(probation.rows_to_prove("2001:db8::77", kSecond) > 0);
  CHECK(probation.rows_to_prove("2001:db8:0:1::77", kSecond) == 0);
}

TEST_CASE("what was found out long ago counts no more") {
  Probation probation;
  for (std::uint8_t i = 1; i <= 3; ++i)
    probation.convicted(peer_id(i), kSharedAddress, i * kSecond);
  CHECK(probation.rows_to_prove(kSharedAddress, policy::kProbationMemory + kSecond) > 0);
  CHECK(probation.rows_to_prove(kSharedAddress, policy::kProbationMemory + 2 * kSecond) == 0);
  probation.convicted(peer_id(4), kSharedAddress, policy::kProbationMemory + 2 * kSecond);
  CHECK(probation.rows_to_prove(kSharedAddress, policy::kProbationMemory + 2 * kSecond) > 0);
}

TEST_CASE("a table that is full keeps the networks that it has") {
  Probation probation;
  for (std::size_t net = 0; net <= policy::kProbationNetworksMax; ++net) {
    const std::string ip = "10.0." + std::to_string(net / 250) + "." + std::to_string(net % 250);
    for (std::uint8_t i = 1; i <= 3; ++i) probation.convicted(peer_id(i), ip, kSecond);
    CHECK((probation.rows_to_prove(ip, kSecond) > 0) == (net < policy::kProbationNetworksMax));
  }
}

TEST_CASE("a newcomer on probation is granted a quarter until some of its rows are proven") {
  Downloader peer;
  peer.convict(2);
  CHECK(peer.granted(peer.join(1, kSharedAddress)) == policy::kWindowMin);
  peer.convict(1);
  CHECK(peer.granted(peer.join(2, kOtherAddress)) == policy::kWindowMin);
  core::Neighbour& suspect = peer.join(3, kSharedAddress);
  CHECK(peer.granted(suspect) == policy::kWindowMin / policy::kProbationShare);
  // A neighbour from before is not touched.
  CHECK(peer.parts().membership.find(1)->rows_to_prove == 0);
  peer.parts().membership.proved(suspect.id, policy::kProbationRows - 1);
  CHECK(suspect.rows_to_prove == 1);
  peer.parts().membership.proved(numbered(2), 5);  // another's
  CHECK(suspect.rows_to_prove == 1);
  peer.parts().membership.proved(suspect.id, 5);
  CHECK(suspect.rows_to_prove == 0);
  CHECK(peer.granted(suspect) == policy::kWindowMin);
}

TEST_CASE("one that is found out after it has left counts as well") {
  Downloader peer;
  peer.convict(2);
  core::Neighbour& gone = peer.join(50, kSharedAddress);
  gone.grants.grant(1, kSecond);
  REQUIRE(gone.book_arrival(1, 64, kSecond));
  const PeerId id = gone.id;
  peer.parts().membership.closed(50, "gone");
  peer.parts().membership.punish(id, GoodbyeReason::kBanned, "sent a false block");
  CHECK(peer.join(51, kSharedAddress).rows_to_prove > 0);
}

TEST_CASE("a fault that is no false block puts nobody on probation") {
  Downloader peer;
  for (PeerKey key = 1; key <= 5; ++key) {
    peer.join(key, kSharedAddress);
    peer.parts().membership.punish(numbered(key), GoodbyeReason::kProtocolError, "said nonsense");
  }
  CHECK(peer.join(9, kSharedAddress).rows_to_prove == 0);
}
