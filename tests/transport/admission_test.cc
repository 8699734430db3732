// Places for accepted connections.
#include "proto/transport/admission.h"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "proto/transport/sockets.h"
#include "proto/transport/source.h"
#include "tests/transport/recorder.h"
#include "tests/transport/stranger.h"

namespace firn::proto::transport::test {
namespace {

using Place = Admission::Place;

// Connections that come to one admission, numbered from 1, and the time there.
struct Door {
  explicit Door(const Admission::Limits& limits) : admission(limits) {}

  Admission::Answer knock(const std::string& ip, bool full = false) {
    return admission.enter(ip, ++last, full, now_ms);
  }
  // Its place is kept until the end.
  bool enters(const std::string& ip, bool full = false) {
    Admission::Answer answer = knock(ip, full);
    gave_way = answer.gives_way;
    if (!answer.place) return false;
    places.push_back(std::move(*answer.place));
    return true;
  }

  Admission admission;
  Admission::Id last = 0;
  std::uint64_t now_ms = 5000;
  std::optional<Admission::Id> gave_way;  // at the last entry
  std::vector<Place> places;
};

TEST_CASE("a network has its places, others have theirs") {
  Door door({.of_network = 2, .unproven_of_network = 2, .unproven = 100});
  auto first = door.knock("192.0.2.1").place;
  auto second = door.knock("192.0.2.1").place;
  REQUIRE((first && second));
  first->proven();
  second->proven();
  CHECK_FALSE(door.enters("192.0.2.1"));
  CHECK(door.enters("192.0.2.2"));
  first.reset();
  CHECK(door.enters("192.0.2.1"));
}

TEST_CASE("unproven connections are bounded by network, and by none once a frame has come") {
  Door door({.of_network = 100, .unproven_of_network = 2, .unproven = 100});
  auto first = door.knock("2001:db8::1").place;
  auto second = door.knock("2001:db8::2").place;  // the same /64
  REQUIRE((first && second));
  CHECK_FALSE(door.enters("2001:db8::3"));
  first->opened(door.now_ms);
  CHECK_FALSE(door.enters("2001:db8::3"));
  first->proven();
  first->proven();  // counts once
  CHECK(door.enters("2001:db8::3"));
  CHECK_FALSE(door.enters("2001:db8::4"));
}

TEST_CASE("a connection that has proven nothing in its time gives way to one of its own network") {
  Door door({.of_network = 100, .unproven_of_network = 2, .unproven = 100});
  REQUIRE(door.enters("192.0.2.1"));
  REQUIRE(door.enters("192.0.2.1"));
  door.now_ms += Admission::kProofMs - 1;
  door.places[0].opened(door.now_ms);  // its time begins anew
  CHECK_FALSE(door.enters("192.0.2.1"));
  door.now_ms += 1;
  CHECK(door.enters("192.0.2.1"));
  CHECK(door.gave_way == 2);
  CHECK_FALSE(door.enters("192.0.2.1"));
  CHECK_FALSE(door.gave_way);
}

TEST_CASE("of a full table the network with most places gives way to others, its oldest first") {
  Door door({.of_network = 100, .unproven_of_network = 4, .unproven = 6});
  for (int i = 0; i < 4; ++i) REQUIRE(door.enters("192.0.2.1"));
  for (int i = 0; i < 2; ++i) REQUIRE(door.enters("192.0.2.2"));
  CHECK(door.enters("192.0.2.3"));
  CHECK(door.gave_way == 1);
  CHECK(door.enters("198.51.100.1"));
  CHECK(door.gave_way == 2);
  CHECK(door.enters("198.51.100.2"));  // 2, 2, 1 and 1 now: prefixes of 5 and 1 before
  CHECK(door.gave_way == 3);
}

TEST_CASE("a prefix of many networks has no more than its share of a full table") {
  Door door({.of_network = 100, .unproven_of_network = 4, .unproven = 20});
  for (int i = 1; i <= 20; ++i) REQUIRE(door.enters("192.0.2." + std::to_string(i)));
  for (int i = 1; i <= 10; ++i) {
    CHECK(door.enters("198.51." + std::to_string(i) + ".1"));
    CHECK(door.gave_way == i);
  }
  // Its own newcomers wait for those that have had their time.
  CHECK_FALSE(door.enters("192.0.2.100"));
  door.now_ms += Admission::kProofMs;
  CHECK(door.enters("192.0.2.100"));
  CHECK(door.gave_way == 11);
}

TEST_CASE("where all connections are taken newcomers enter in exchange for unproven ones first") {
  Door door(
      {.of_network = 100, .unproven_of_network = 50, .unproven = 50, .exchanges_proven = true});
  REQUIRE(door.enters("192.0.2.1"));
  CHECK_FALSE(door.admission.may_exchange(door.now_ms));
  door.now_ms += Admission::kProofMs;
  CHECK(door.admission.may_exchange(door.now_ms));
  CHECK(door.enters("198.51.100.1", true));
  CHECK(door.gave_way == 1);
  door.places.back().proven();
  CHECK_FALSE(door.enters("203.0.113.1", true));  // each prefix would hold one
  CHECK_FALSE(door.admission.may_exchange(door.now_ms));
}

TEST_CASE("proven connections of a prefix that holds more than its share give way, oldest first") {
  Door door(
      {.of_network = 100, .unproven_of_network = 50, .unproven = 50, .exchanges_proven = true});
  const auto held = [&](const std::string& ip) {
    REQUIRE(door.enters(ip));
    door.places.back().proven();
    ++door.now_ms;
  };
  for (const char* ip : {"192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.3"}) held(ip);
  held("198.51.100.1");
  CHECK_FALSE(door.admission.may_exchange(door.now_ms));
  CHECK_FALSE(door.enters("203.0.113.1", true));
  door.now_ms += Admission::kProofMs;
  CHECK(door.admission.may_exchange(door.now_ms));
  for (const auto& [ip, gives_way] : {std::pair{"203.0.113.1", 2}, {"203.0.114.1", 1}}) {
    CHECK(door.enters(ip, true));
    CHECK(door.gave_way == gives_way);
    door.places.back().proven();
  }
  // Two are left there: a newcomer whose prefix holds one would not hold less, and takes its place.
  CHECK(door.enters("198.51.100.2", true));
  CHECK(door.gave_way == 5);
  CHECK(door.enters("203.0.115.1", true));
  CHECK(door.gave_way == 3);
}

TEST_CASE("an address that holds all it may takes turns with itself") {
  for (const bool exchanges : {true, false}) {
    Door door(
        {.of_network = 2, .unproven_of_network = 2, .unproven = 50, .exchanges_proven = exchanges});
    for (int i = 0; i < 2; ++i) {
      REQUIRE(door.enters("192.0.2.1"));
      door.places.back().proven();
    }
    CHECK_FALSE(door.enters("192.0.2.1"));
    door.now_ms += Admission::kProofMs;
    CHECK(door.enters("192.0.2.1") == exchanges);
    if (exchanges) CHECK(door.gave_way == 1);
  }
}

TEST_CASE("a prefix whose connections are made anew all the time does not shield the next ones") {
  Door door(
      {.of_network = 100, .unproven_of_network = 50, .unproven = 50, .exchanges_proven = true});
  const auto held = [&](const std::string& ip) {
    REQUIRE(door.enters(ip));
    door.places.back().proven();
  };
  for (const char* ip : {"10.1.0.1", "10.1.1.1", "10.1.1.1"}) held(ip);
  door.now_ms += Admission::kProofMs;
  for (int i = 0; i < 3; ++i) held("192.0.2.1");
  CHECK(door.admission.may_exchange(door.now_ms));
  CHECK(door.enters("203.0.113.1", true));
  CHECK(door.gave_way == 2);
}

TEST_CASE("where all places are taken handshakes under way wait for proven ones to go first") {
  Door door(
      {.of_network = 100, .unproven_of_network = 50, .unproven = 50, .exchanges_proven = true});
  for (int i = 0; i < 3; ++i) {
    REQUIRE(door.enters("192.0.2.1"));
    door.places.back().proven();
  }
  door.now_ms += Admission::kProofMs;
  for (int i = 0; i < 2; ++i) REQUIRE(door.enters("198.51.100.1"));  // just begun
  CHECK(door.enters("203.0.113.1", true));
  CHECK(door.gave_way == 1);
}

TEST_CASE("where proven connections do lasting work none of them gives way") {
  Door door({.of_network = 100, .unproven_of_network = 50, .unproven = 50});
  for (const char* ip : {"192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.3"}) {
    REQUIRE(door.enters(ip));
    door.places.back().proven();
  }
  door.now_ms += Admission::kProofMs;
  CHECK_FALSE(door.admission.may_exchange(door.now_ms));
  CHECK_FALSE(door.enters("203.0.113.1", true));
}

TEST_CASE("peers of one prefix take turns where all connections are taken") {
  Door door(
      {.of_network = 100, .unproven_of_network = 50, .unproven = 50, .exchanges_proven = true});
  REQUIRE(door.enters("192.0.2.1"));
  door.places.back().proven();
  CHECK_FALSE(door.enters("192.0.2.1", true));
  door.now_ms += Admission::kProofMs;
  CHECK(door.enters("192.0.2.1", true));
  CHECK(door.gave_way == 1);
  door.places.back().proven();
  // A neighbour there too, once that has had its time.
  CHECK_FALSE(door.enters("192.0.2.2", true));
  door.now_ms += Admission::kProofMs;
  CHECK(door.enters("192.0.2.2", true));
  CHECK(door.gave_way == 3);
}

TEST_CASE("a prefix that holds most gives a proven connection where its silent ones may stay") {
  Door door(
      {.of_network = 100, .unproven_of_network = 50, .unproven = 50, .exchanges_proven = true});
  for (const char* ip : {"192.0.2.1", "192.0.2.2", "192.0.2.3"}) REQUIRE(door.enters(ip));
  door.places[1].proven();
  door.places[2].proven();
  door.now_ms += Admission::kProofMs;
  door.places[0].opened(door.now_ms);
  REQUIRE(door.enters("198.51.100.1"));  // each prefix has one silent connection now
  CHECK(door.enters("198.51.100.1", true));
  CHECK(door.gave_way == 2);
}

TEST_CASE("a connection that has given way gives nothing back") {
  Door door({.of_network = 2, .unproven_of_network = 1, .unproven = 100});
  auto first = door.knock("192.0.2.1").place;
  door.now_ms += Admission::kProofMs;
  auto second = door.knock("192.0.2.1");
  REQUIRE((first && second.place && second.gives_way == 1));
  first->opened(door.now_ms);
  first->proven();
  first.reset();
  second.place->proven();
  CHECK(door.enters("192.0.2.1"));
  CHECK_FALSE(door.enters("192.0.2.1"));
}

TEST_CASE("a place that moves is given back once") {
  Door door({.of_network = 1, .unproven_of_network = 1, .unproven = 1});
  {
    auto place = door.knock("192.0.2.1").place;
    REQUIRE(place);
    const Place moved = std::move(*place);
    CHECK_FALSE(door.enters("192.0.2.1"));
  }
  CHECK(door.enters("192.0.2.1"));
}

// A client on one loopback address of its own.
struct ClientAt {
  explicit ClientAt(const std::string& ip) {
    REQUIRE(node.transport->listen(Address{{}, ip, 0}).ok());  // calls go out from there
  }
  // Whether an Answering server takes it in; it leaves again, unless it stays.
  bool reaches(const Address& where, bool stays = false) {
    const ConnectionId id = node.transport->connect(where);
    const auto over = [id](const auto& all) {
      return all.contains(id) && !all.at(id).closed.empty();
    };
    const auto open = [id](const auto& all) { return all.contains(id) && all.at(id).open; };
    const auto answered = [id](const auto& all) { return !all.at(id).frames.empty(); };
    REQUIRE(node.recorder.wait([&](const auto& all) { return open(all) || over(all); }));
    node.transport->send(id, frame_of(Bytes{1}));
    REQUIRE(node.recorder.wait([&](const auto& all) { return over(all) || answered(all); }));
    if (stays) return !node.recorder.connection(id).frames.empty();
    node.transport->close(id);
    REQUIRE(node.recorder.wait(over));
    return !node.recorder.connection(id).frames.empty();
  }
  Node node;
};

TEST_CASE("silent strangers of nine addresses do not keep others out, of their own neither") {
  Options options;
  options.connection_count_max = 64;  // 32 unproven, 16 of one network
  Answering server(options);
  const Address where = server.listen();
  const auto silent = [&](int first, int last) {
    std::vector<Socket> sockets;
    for (int i = first; i <= last; ++i) {
      Source source;
      REQUIRE(source.narrow_to(*numeric_address("127.0.0." + std::to_string(i), 0)).ok());
      for (int k = 0; k < 25; ++k)
        sockets.push_back(begin_connect(*numeric_address("127.0.0.1", where.port), source));
    }
    return sockets;
  };
  const std::vector<Socket> strangers = silent(2, 10);
  ClientAt other("127.0.0.77");
  for (int i = 0; i < 25; ++i) CHECK(other.reaches(where));
  ClientAt same("127.0.0.5");  // where strangers are, after their time
  bool reached = false;
  for (int tries = 0; tries < 1000 && !reached; ++tries) reached = same.reaches(where);
  CHECK(reached);
}

TEST_CASE("connections that have spoken and stay do not keep those of other prefixes out") {
  Options options;
  options.connection_count_max = 16;
  options.proven_give_way = true;
  Answering server(options);
  const Address where = server.listen();
  std::vector<std::unique_ptr<ClientAt>> staying;
  for (int i = 0; i < 16; ++i) {
    staying.push_back(std::make_unique<ClientAt>("127.0.0." + std::to_string(2 + i)));
    REQUIRE(staying.back()->reaches(where, true));
  }
  ClientAt other("127.0.77.1");
  CHECK(other.reaches(where, true));
  CHECK(other.reaches(where, true));
}

}  // namespace
}  // namespace firn::proto::transport::test
