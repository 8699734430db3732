// A download that stands still: what is said of it, when, and the table of peers.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "client/app/session/patience.h"
#include "client/app/session/peer_table.h"
#include "client/app/session/standstill_words.h"
#include "proto/base/address.h"

namespace firn::app {
namespace {

using core::kSecond;
using core::NeighbourStanding;
using core::Standstill;
using core::TrackerStanding;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

PeerId peer_of(std::uint8_t first) {
  PeerId id;
  id.bytes[0] = first;
  return id;
}

Standstill alone() {
  Standstill standstill;
  standstill.kind = Standstill::Kind::kNobody;
  return standstill;
}

NeighbourStanding neighbour(std::uint8_t first, NeighbourStanding::Kind kind) {
  NeighbourStanding one;
  one.id = peer_of(first);
  one.endpoint = "192.0.2.1:4000";
  one.kind = kind;
  one.heard_at = 4 * kSecond;
  return one;
}

TEST_CASE("where a content has origins it is said how they stand") {
  const std::vector<std::string> origins = {"waiting for https://o.example/",
                                            "https://p.example/: connection refused"};
  for (const auto kind : {Standstill::Kind::kNobody, Standstill::Kind::kLacking,
                          Standstill::Kind::kSilent, Standstill::Kind::kNoState}) {
    Standstill why;
    why.kind = kind;
    const std::string text = reason_of(why, 9 * kSecond, origins).text;
    for (const std::string& origin : origins) CHECK(has(text, origin));
  }
  Standstill full;
  full.kind = Standstill::Kind::kStorePaused;
  CHECK_FALSE(has(reason_of(full, 9 * kSecond, origins).text, origins[0]));
}

TEST_CASE("nobody connected: every tracker and address is accounted for") {
  Standstill why = alone();
  why.trackers.push_back(
      {TrackerStanding::Kind::kAnswered, {{}, "t.example", 4711}, {}, 1, 2 * kSecond});
  why.trackers.push_back({TrackerStanding::Kind::kFailed, {{}, "u.example", 1}, "refused", 0, 0});
  why.trackers.push_back(
      {TrackerStanding::Kind::kNoAnswerYet, {{}, "v.example", 1}, {}, 0, 2 * kSecond});
  why.addresses.push_back({{{}, "192.0.2.9", 9}, true, false, 0, "connection refused"});
  why.addresses.push_back({{{}, "192.0.2.8", 9}, true, true, 8 * kSecond, ""});
  why.addresses.push_back({{{}, "192.0.2.7", 9}, true, false, 0, ""});
  const std::string text = reason_of(why, 20 * kSecond).text;
  CHECK(has(text, "no peer is connected"));
  CHECK(has(text, "tracker t.example:4711 knows no other peer of this content"));
  CHECK(has(text, "tracker u.example:1 cannot be asked: refused"));
  CHECK(has(text, "tracker v.example:1 has not answered yet, since 18s"));
  CHECK(has(text, "3 addresses tried"));
  CHECK(has(text, "192.0.2.9:9: connection refused"));
  CHECK(has(text, "192.0.2.8:9: no answer yet since 12s"));
  CHECK(has(text, "192.0.2.7:9: not called yet"));
  CHECK(reason_of(why, 20 * kSecond).name == "nobody");
}

TEST_CASE("many addresses with one fate are told together") {
  Standstill why = alone();
  for (std::uint16_t port = 1; port <= 50; ++port)
    why.addresses.push_back({{{}, "192.0.2.9", port}, false, false, 0, "refused"});
  const std::string text = reason_of(why, 0).text;
  CHECK(has(text, "50 addresses tried: 192.0.2.9:1, 192.0.2.9:2, 192.0.2.9:3, 47 more: refused"));
}

TEST_CASE("an address that is known with several ids is told once") {
  Standstill why = alone();
  for (const std::uint8_t id : {1, 2})
    why.addresses.push_back({{peer_of(id), "192.0.2.9", 1}, false, false, 0, "refused"});
  why.addresses.push_back({{{}, "192.0.2.9", 2}, false, false, 0, "refused"});
  CHECK(has(reason_of(why, 0).text, "2 addresses tried: 192.0.2.9:1, 192.0.2.9:2: refused"));
}

TEST_CASE("what peers lack and have taken back is told in bytes") {
  Standstill why;
  why.kind = Standstill::Kind::kLacking;
  why.neighbours.push_back(neighbour(1, NeighbourStanding::Kind::kLacks));
  why.neighbours[0].withdrawn_bytes = 2 << 20;
  why.lacking_bytes = 3 << 20;
  const std::string text = reason_of(why, 10 * kSecond).text;
  CHECK(has(text, peer_of(1).short_text() + " at 192.0.2.1:4000 lacks 3.0 MiB of what is missing"));
  CHECK(has(text, "says that its files changed or cannot be read (2.0 MiB of them)"));
}

TEST_CASE("of a silent peer people learn when it was heard last; the disk speaks for itself") {
  Standstill why;
  why.kind = Standstill::Kind::kSilent;
  why.neighbours.push_back(neighbour(1, NeighbourStanding::Kind::kSilent));
  CHECK(has(reason_of(why, 16 * kSecond).text, "sends no blocks (last heard 12s ago)"));
  why.kind = Standstill::Kind::kStorePaused;
  why.store_error = "write x: no space";
  CHECK(has(reason_of(why, 0).text, "the disk takes nothing: write x: no space"));
}

TEST_CASE("numbers that merely grow are no other reason; another peer or error is") {
  Standstill why = alone();
  why.trackers.push_back({TrackerStanding::Kind::kNoAnswerYet, {{}, "t", 1}, {}, 0, 0});
  why.addresses.push_back({{{}, "192.0.2.8", 9}, true, true, kSecond, ""});
  const Reason first = reason_of(why, 10 * kSecond), later = reason_of(why, 20 * kSecond);
  CHECK(first.key == later.key);
  CHECK(first.text != later.text);
  Standstill other = why;
  other.addresses[0].error = "no route to host";
  CHECK(reason_of(other, 10 * kSecond).key != first.key);
  other = why;
  other.trackers[0].kind = TrackerStanding::Kind::kAnswered;
  CHECK(reason_of(other, 10 * kSecond).key != first.key);

  why = {};
  why.kind = Standstill::Kind::kSilent;
  why.neighbours.push_back(neighbour(1, NeighbourStanding::Kind::kSilent));
  other = why;
  other.neighbours[0].heard_at = 5 * kSecond;
  CHECK(reason_of(other, 20 * kSecond).key == reason_of(why, 30 * kSecond).key);
  other.neighbours[0].id = peer_of(2);
  CHECK(reason_of(other, 20 * kSecond).key != reason_of(why, 20 * kSecond).key);
}

TEST_CASE("the reason is said after five quiet seconds, once for each change") {
  Patience patience;
  const Reason nobody{"nobody", "a", "nobody"}, silent{"silent", "b", "silent"};
  CHECK(patience.next(0) == Patience::kQuiet);
  CHECK_FALSE(patience.due(0, Patience::kQuiet - 1));
  REQUIRE(patience.due(0, Patience::kQuiet));
  CHECK(patience.review(nobody, 0, Patience::kQuiet));
  CHECK_FALSE(patience.due(0, Patience::kQuiet + 1));
  core::TimeUs now = Patience::kQuiet;
  for (int i = 0; i < 100; ++i) {
    now += Patience::kReview;
    REQUIRE(patience.due(0, now));
    CHECK_FALSE(patience.review(nobody, 0, now));
  }
  CHECK(patience.review(silent, 0, now += Patience::kReview));
  CHECK(patience.review(nobody, 0, now += Patience::kReview));
  CHECK_FALSE(patience.over(0, 1'000'000 * kSecond));
}

TEST_CASE("a download counts as waiting only after five quiet seconds, and goes on once") {
  Patience patience;
  CHECK_FALSE(patience.quiet(0, Patience::kQuiet - 1));
  CHECK(patience.quiet(0, Patience::kQuiet));
  core::TimeUs now = Patience::kQuiet;
  CHECK_FALSE(patience.goes_on(now, now));  // nothing was said
  REQUIRE(patience.review({"nobody", "a", "nobody"}, 0, now));
  CHECK_FALSE(patience.goes_on(0, now));
  ++now;
  CHECK(patience.goes_on(now, now));
  ++now;
  CHECK_FALSE(patience.goes_on(now, now));
}

TEST_CASE("what was said last is true, also of a download that stands still again at once") {
  Patience patience;
  const Reason nobody{"nobody", "a", "nobody"};
  REQUIRE(patience.review(nobody, 0, Patience::kQuiet));
  core::TimeUs progressed = Patience::kQuiet + kSecond;
  REQUIRE(patience.goes_on(progressed, progressed));
  CHECK_FALSE(patience.review(nobody, progressed, progressed + kSecond));
  CHECK(patience.review(nobody, progressed, progressed + Patience::kQuiet));
}

TEST_CASE("a download that pauses again and again says so once in a while") {
  Patience patience;
  const Reason nobody{"nobody", "a", "nobody"};
  const core::TimeUs lasts = 100 * Patience::kBetween, pause = Patience::kQuiet + kSecond;
  int went_on = 0, said = 0;
  for (core::TimeUs at = 0; at < lasts; at += pause) {
    went_on += patience.goes_on(at, at) ? 1 : 0;
    said += patience.review(nobody, at, at + Patience::kQuiet) ? 1 : 0;
  }
  CHECK(went_on > 0);
  CHECK(went_on <= lasts / Patience::kBetween);
  CHECK(said == went_on + 1);
}

TEST_CASE("what was said long before a download goes on for good is taken back") {
  Patience patience;
  const Reason nobody{"nobody", "a", "nobody"};
  core::TimeUs now = Patience::kQuiet;
  REQUIRE(patience.review(nobody, 0, now));
  now += kSecond;
  REQUIRE(patience.goes_on(now, now));
  const core::TimeUs went_on = now;
  now += Patience::kQuiet;
  REQUIRE(patience.review(nobody, went_on, now));
  CHECK_FALSE(patience.goes_on(now + kSecond, now + kSecond));  // not twice in a moment
  now = went_on + Patience::kBetween;
  CHECK_FALSE(patience.goes_on(now - Patience::kQuiet, now));  // it stands still again
  CHECK(patience.goes_on(now, now));
}

TEST_CASE("a timeout is over when nothing has come for so long") {
  Patience patience(2 * kSecond);
  CHECK(patience.next(kSecond) == 3 * kSecond);  // before the first word is due
  CHECK_FALSE(patience.over(kSecond, 3 * kSecond - 1));
  CHECK(patience.over(kSecond, 3 * kSecond));
  // It ends with its reason, which was never due by itself.
  CHECK_FALSE(patience.review({"nobody", "a", "nobody"}, kSecond, 3 * kSecond));
}

TEST_CASE("time in which the process did not run is no time without progress") {
  Patience patience(8 * kSecond);
  const core::TimeUs now = 10 * kSecond;  // stopped after a second without progress
  CHECK_FALSE(patience.due(0, kSecond));
  CHECK_FALSE(patience.due(0, now));
  CHECK_FALSE(patience.over(0, now));
  CHECK(patience.next(0) == now + Patience::kQuiet);
  // It has the whole timeout from then on, and no more.
  for (core::TimeUs waited = Patience::kQuiet; waited < 8 * kSecond; waited += kSecond) {
    REQUIRE(patience.due(0, now + waited));
    CHECK(patience.review({"nobody", "a", "nobody"}, 0, now + waited) ==
          (waited == Patience::kQuiet));
    CHECK_FALSE(patience.over(0, now + waited));
  }
  REQUIRE(patience.due(0, now + 8 * kSecond));
  CHECK(patience.over(0, now + 8 * kSecond));
}

core::PeerStatus a_peer() {
  core::PeerStatus peer;
  peer.id = peer_of(7);
  peer.endpoint = "[2001:db8::1]:4000";
  peer.outgoing = true;
  peer.held = 0.974;
  peer.bytes_received = 3 << 20;
  peer.blocks_received = 200;
  peer.blocks_innovative = 150;
  peer.down_rate = 1024;
  peer.silent_for = 12 * kSecond;
  peer.state = core::PeerStatus::State::kSilent;
  return peer;
}

TEST_CASE("the table of peers has a line for each, with everything in it") {
  const auto lines = peer_table("name", {a_peer()});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "name: 1 peer connected");
  for (const char* part :
       {"[2001:db8::1]:4000", "out", "97.4%", "3.0 MiB", "1.0 KiB/s", "75%", "12s", "silent"}) {
    CAPTURE(part);
    CHECK(has(lines[2], part));
  }
  CHECK(has(lines[2], peer_of(7).short_text()));
  CHECK(lines[2].find("out") == lines[1].find("dir"));
  CHECK(peer_table("name", {}) == std::vector<std::string>{"name: 0 peers connected"});
}

TEST_CASE("a peers event says the same to programs") {
  const Json event = peers_event({}, {a_peer()});
  CHECK(event["event"] == "peers");
  CHECK(event.contains("content_id"));
  const Json& peer = event["peers"][0];
  CHECK(peer["peer"] == peer_of(7).text());
  CHECK(peer["direction"] == "out");
  CHECK(peer["innovation"] == 0.75);
  CHECK(peer["silent_seconds"] == 12.0);
  CHECK(peer["state"] == "silent");
  core::PeerStatus fresh;
  CHECK(peers_event({}, {fresh})["peers"][0]["innovation"].is_null());
}

}  // namespace
}  // namespace firn::app
