#include "tracker/redis/records.h"

#include <doctest/doctest.h>

#include <random>

#include "tests/tracker/tracker_fixture.h"
#include "tracker/redis/commands.h"

namespace firn::tracker::test {
namespace {

using namespace std::chrono_literals;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    text += "0123456789abcdef"[c & 15];
  }
  return text;
}

TEST_CASE("a peer's record has these bytes, and comes back") {
  Peer one = peer(258, true);
  CHECK(hex(peer_record(pack(one))) == "01ea040a000102");
  CHECK(parse_peer_record(one.endpoint.id, peer_record(pack(one))) == pack(one));
  one = {{peer_id(1), "2001:db8::9", 0x1234}, false};
  CHECK(hex(peer_record(pack(one))) == "02341220010db8000000000000000000000009");
  CHECK(parse_peer_record(one.endpoint.id, peer_record(pack(one))) == pack(one));
}

TEST_CASE("what is no record of a peer is refused") {
  const std::string v4 = peer_record(pack(peer(1)));
  for (std::string bytes :
       {std::string(), v4 + "x", v4.substr(1), v4.substr(0, 6), std::string(19, '\0'),
        std::string("\x04", 1), std::string("\x05", 1) + v4.substr(1),
        std::string("\x08", 1) + v4.substr(1), std::string("\x02", 1) + v4.substr(1)})
    CHECK_FALSE(parse_peer_record(peer_id(1), bytes).has_value());
}

std::vector<PeerChange> some_changes(Time now) {
  PeerChange left{content(2), {}, true, now - 5ms};
  left.peer.endpoint.id = peer_id(7);
  Peer six{{peer_id(8), "2001:db8::9", 9}, true};
  return {{content(1), pack(peer(1)), false, now - 70s}, left, {content(3), pack(six), false, now}};
}

TEST_CASE("changes travel with their ages, whatever the clocks of both sides are") {
  std::string bytes;
  for (const PeerChange& change : some_changes(1000s)) append_change(bytes, change, 1000s);
  CHECK(bytes.size() == 3 * 68 + 7 + 1 + 19);
  CHECK(parse_changes(bytes, 50s).value() == some_changes(50s));
  CHECK(parse_changes("", 50s).value().empty());
  // A time ahead is now, one long ago as old as can be said.
  bytes.clear();
  append_change(bytes, {content(1), pack(peer(1)), false, 20s}, 10s);
  append_change(bytes, {content(1), pack(peer(1)), false, -std::chrono::hours(24 * 365)}, 10s);
  const auto read = parse_changes(bytes, 10s).value();
  CHECK(read[0].at == 10s);
  CHECK(read[1].at == 10s - Time(0xffffffffu));
}

TEST_CASE("changes that are cut off or spoilt are refused as a whole") {
  std::string bytes;
  std::vector<std::size_t> ends{0};
  for (const PeerChange& change : some_changes(0s)) {
    append_change(bytes, change, 0s);
    ends.push_back(bytes.size());
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    const bool whole = std::find(ends.begin(), ends.end(), size) != ends.end();
    CHECK(parse_changes(bytes.substr(0, size), 0s).has_value() == whole);
  }
  bytes[68] = '\x10';  // a flag that is none
  CHECK_FALSE(parse_changes(bytes, 0s).has_value());
  CHECK_FALSE(parse_changes(std::string(2 * kChangesBytesMax + 1, '\0'), 0s).has_value());
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    std::string rubbish(random() % 300, '\0');
    for (char& c : rubbish) c = static_cast<char>(random());
    if (const auto read = parse_changes(rubbish, 0s)) CHECK(read->size() <= rubbish.size() / 69);
  }
}

TEST_CASE("ids stand one after another") {
  std::string bytes;
  append_id(bytes, content(1));
  append_id(bytes, content(2));
  CHECK(parse_ids(bytes).value() == std::vector{content(1), content(2)});
  CHECK_FALSE(parse_ids(bytes.substr(1)).has_value());
}

TEST_CASE("all keys of a content have its id as their hash tag") {
  const Keys keys("a:");
  const std::string tag = "a:{" + content(5).text() + "}:";
  CHECK(keys.seen(content(5)) == tag + "seen");
  CHECK(keys.peers(content(5)) == tag + "peers");
  CHECK(keys.manifest(content(5)) == tag + "manifest");
  CHECK(keys.content_of(keys.seen(content(5))) == content(5));
  CHECK(keys.seen_pattern().size() == keys.seen(content(5)).size());
  for (const std::string& other : {keys.peers(content(5)), tag, std::string(), std::string(60, 'a'),
                                   "b:{" + content(5).text() + "}:seen"})
    CHECK_FALSE(keys.content_of(other).has_value());
  CHECK(is_key_prefix(""));
  CHECK(is_key_prefix("firn.1:"));
  for (const char* text : {"a{b", "a*", "a b", "\xc3\xa9"}) CHECK_FALSE(is_key_prefix(text));
}

}  // namespace
}  // namespace firn::tracker::test
