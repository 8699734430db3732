// SwarmTable does what a plain list of its peers does, whatever comes, in tables of all kinds of
// limits; and its samples are spread as they should be.
#include "tracker/swarm_table.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/sampled.h"
#include "tests/tracker/plain_table.h"
#include "tests/tracker/tracker_fixture.h"

namespace firn::tracker::test {
namespace {

// Shapes in which peers share contents, prefixes and networks, and tables are full now and then.
struct Shape {
  RegistryLimits limits;
  std::uint32_t contents, peers;  // of which peers are drawn
  bool is_full_at_times = false;
};

RegistryLimits limits(std::size_t contents, std::size_t peers, std::size_t peers_per_content,
                      std::size_t spare, std::size_t listed) {
  return {.content_count_max = contents,
          .peer_count_max = peers,
          .peers_per_content_max = peers_per_content,
          .peer_places_spare = spare,
          .listed_per_network_max = listed};
}

const Shape kShapes[] = {
    {limits(100, 1000, 1000, 0, 64), 5, 60},  // never full
    {limits(100, 1000, 1000, 0, 2), 2, 150},  // few of a network are listed
    {limits(100, 1000, 1000, 0, 1), 2, 60},
    {limits(10, 1000, 1000, 0, 64), 40, 2, true},  // contents give way
    {limits(100, 1000, 20, 0, 4), 3, 60, true},    // peers of a swarm do
    {limits(100, 40, 1000, 0, 64), 6, 30, true},   // peers of all do
    {limits(5, 60, 12, 30, 3), 8, 25, true},       // all of them
    {limits(100, 40, 1, 0, 64), 50, 3, true},      // swarms of one peer
    {limits(100, 200, 1000, 190, 64), 6, 40},      // counted nearly from the start
};

// Among equals the table goes by addresses as numbers, the list as text: for these it is the same.
std::string address(std::mt19937_64& random) {
  const auto digit = [&](std::uint32_t count) { return std::to_string(random() % count); };
  if (random() % 3 == 0) return "2001:db8:" + digit(3) + ":" + digit(3) + "::" + digit(5);
  return "203.0." + digit(6) + "." + digit(4);
}

class Pair {
 public:
  Pair(const Shape& shape, std::uint64_t seed)
      : shape_(shape),
        plain_(shape.limits),
        table_(
            shape.limits,
            [this](const ContentId& content, const PeerId& id) {
              REQUIRE(table_.find(content, id) != nullptr);
              gone_.push_back({content, id});
            },
            seed),
        random_(seed) {}

  void step() {
    now_ += Time(static_cast<Time::rep>(random_() % 3));
    const PeerKey key(content(draw(shape_.contents)), peer_id(draw(shape_.peers)));
    switch (random_() % 16) {
      case 0:
      case 1:
        REQUIRE(table_.leave(key.first, key.second) == plain_.leave(key));
        break;
      case 2:
        table_.expire(now_ - Time(150));
        plain_.expire(now_ - Time(150));
        break;
      default:
        announce(key);
    }
    compare_gone();
    compare(key);
    sample(key);
  }
  // Peers gave way to newcomers, and newcomers were turned away.
  bool was_full() const { return made_room_ > 0 && turned_away_ > 0; }
  void compare_all() {
    std::vector<PeerKey> order, plain_order;
    table_.for_each([&](const ContentId& content, const PackedPeer& peer) {
      order.push_back({content, peer.endpoint.id});
    });
    for (const auto& one : plain_.peers) plain_order.push_back(one.key);
    REQUIRE(order == plain_order);
    const std::vector<ContentId> contents = table_.contents();
    REQUIRE(std::set(contents.begin(), contents.end()) == plain_.contents());
    REQUIRE(contents.size() == plain_.contents().size());
    Snapshot snapshot;
    table_.describe(snapshot);
    REQUIRE(snapshot.swarm_count == contents.size());
    REQUIRE(snapshot.complete_count + snapshot.incomplete_count == order.size());
    for (const Snapshot::Line& line : snapshot.largest) {
      REQUIRE(SwarmCounts{line.complete, line.incomplete} == plain_.counts(line.content));
      REQUIRE(line.percent == mean_percent(line.content));
    }
    for (const ContentId& content : contents) {
      std::map<PeerId, std::pair<Peer, Time>> all, plain;
      std::size_t count = 0;
      table_.for_each_of(content, [&](const SeenPeer& one) {
        all[one.peer.endpoint.id] = {unpack(one.peer), one.seen};
        ++count;
      });
      for (const auto& one : plain_.of(content)) plain[one.key.second] = {one.peer, one.seen};
      REQUIRE(all == plain);
      REQUIRE(count == plain.size());
    }
  }

 private:
  std::uint32_t draw(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
  // Of what the content's peers have said last.
  std::optional<std::uint32_t> mean_percent(const ContentId& content) const {
    std::uint32_t count = 0, lacking = 0;
    for (const auto& one : plain_.of(content)) {
      const std::uint32_t lacks = lacks_.at(one.key);
      count += lacks > 0 ? 1 : 0;
      lacking += lacks;
    }
    if (count == 0) return std::nullopt;
    return static_cast<std::uint32_t>(100 - std::ceil(1.0 * lacking / count));
  }
  // As before, or something else.
  void announce(const PeerKey& key) {
    const auto known = plain_.find(key);
    Peer peer{{key.second, address(random_), static_cast<std::uint16_t>(1 + random_() % 9)},
              random_() % 3 == 0};
    if (random_() % 6 == 0) peer.endpoint.port = 0;
    peer = unpack(pack(peer));  // addresses as they are written
    if (known != plain_.peers.end() && random_() % 3 != 0) peer = known->peer;
    PackedPeer announced = pack(peer);
    if (!peer.complete && random_() % 4 != 0)
      announced.lacks_percent = static_cast<std::uint8_t>(1 + random_() % 100);
    lacks_[key] = announced.lacks_percent;
    bool changed = false, plain_changed = false;
    const AnnounceOutcome outcome = table_.announce(key.first, announced, now_, &changed);
    REQUIRE(outcome == plain_.announce(key.first, peer, now_, &plain_changed));
    REQUIRE(changed == plain_changed);
    made_room_ += gone_.empty() ? 0 : 1;
    turned_away_ += outcome == AnnounceOutcome::kKept ? 0 : 1;
  }
  // Peers of a content that goes may go in any order.
  void compare_gone() {
    std::ranges::sort(gone_);
    std::ranges::sort(plain_.gone);
    REQUIRE(gone_ == plain_.gone);
    gone_.clear();
    plain_.gone.clear();
  }
  void compare(const PeerKey& key) {
    const auto known = plain_.find(key);
    const auto seen = table_.seen(key.first, key.second);
    REQUIRE(seen.has_value() == (known != plain_.peers.end()));
    REQUIRE((table_.find(key.first, key.second) != nullptr) == seen.has_value());
    REQUIRE(table_.counts(key.first) == plain_.counts(key.first));
    if (!seen) return;
    REQUIRE(unpack(seen->peer) == known->peer);
    REQUIRE(seen->seen == known->seen);
    REQUIRE(*table_.find(key.first, key.second) == seen->peer);
  }
  // One of each prefix, or, where these are too few, a second one of each, and so on.
  void sample(const PeerKey& asker) {
    const SampleRequest request{asker.second, random_() % 12, random_() % 2 == 0};
    Endpoints drawn;
    table_.sample(asker.first, request, random_, drawn);
    std::map<std::string, std::size_t> there, named;  // by prefix
    std::map<PeerId, proto::PeerEndpoint> fitting;
    for (const auto& one : plain_.of(asker.first)) {
      if (!one.is_listed || (one.peer.complete && !request.complete_too)) continue;
      ++there[prefix_of(one.ip())];
      fitting[one.key.second] = one.peer.endpoint;
    }
    const bool asks_one_each = there.size() >= request.peers_max || there.size() == fitting.size();
    const bool asker_fits = fitting.erase(asker.second) > 0;
    for (const proto::PackedEndpoint& one : drawn) {
      const auto expected = fitting.find(one.id);
      REQUIRE(expected != fitting.end());
      REQUIRE(proto::unpack(one) == expected->second);
      ++named[prefix_of(expected->second.ip)];
      fitting.erase(expected);  // not again
    }
    REQUIRE(drawn.size() <= request.peers_max);
    const std::size_t prefixes = std::min(there.size(), request.peers_max);
    if (asks_one_each) {
      REQUIRE(named.size() == drawn.size());
      REQUIRE(drawn.size() + (asker_fits ? 1 : 0) >= prefixes);
      if (there.size() > request.peers_max) REQUIRE(drawn.size() == request.peers_max);
    } else {
      REQUIRE((drawn.size() == request.peers_max || fitting.empty()));
    }
  }

  const Shape& shape_;
  PlainTable plain_;
  std::map<PeerKey, std::uint8_t> lacks_;
  std::vector<PeerKey> gone_;
  SwarmTable table_;
  std::mt19937_64 random_;
  Time now_{0};
  int made_room_ = 0, turned_away_ = 0;
};

TEST_CASE("a table of swarms does what a plain list of its peers does") {
  for (std::size_t at = 0; at < std::size(kShapes); ++at) {
    CAPTURE(at);
    for (std::uint64_t seed = 1; seed <= firn::test::some_of(3); ++seed) {
      CAPTURE(seed);
      Pair pair(kShapes[at], seed);
      for (int step = 0; step < 2000; ++step) {
        CAPTURE(step);
        pair.step();
        if (step % 50 == 0) pair.compare_all();
      }
      CHECK(pair.was_full() == kShapes[at].is_full_at_times);
    }
  }
}

// How often each of `count` prefixes, and each of their peers, is to be drawn: as often as others.
TEST_CASE("each prefix is drawn as often as any other, and each of its peers as its neighbours") {
  constexpr std::uint32_t kPrefixes = 60;
  constexpr std::size_t kDrawn = 10, kRounds = 20'000;
  SwarmTable table({}, [](const ContentId&, const PeerId&) {});
  std::map<PeerId, std::uint32_t> prefix_of_peer;
  std::vector<std::uint32_t> peers_of(kPrefixes);
  std::uint32_t number = 0;
  for (std::uint32_t prefix = 0; prefix < kPrefixes; ++prefix) {
    for (std::uint32_t peer = 0; peer <= prefix % 4; ++peer, ++number) {
      const std::string ip = "10.0." + std::to_string(prefix) + "." + std::to_string(1 + peer);
      table.announce(content(1), pack({{peer_id(number), ip, 1}, false}), Time(0));
      prefix_of_peer[peer_id(number)] = prefix;
      ++peers_of[prefix];
    }
  }
  Random random(6);
  std::map<PeerId, std::size_t> drawn;
  Endpoints sample;
  for (std::size_t round = 0; round < kRounds; ++round) {
    table.sample(content(1), {peer_id(99'999), kDrawn, true}, random, sample);
    REQUIRE(sample.size() == kDrawn);
    for (const auto& one : sample) ++drawn[one.id];
  }
  REQUIRE(drawn.size() == number);
  for (const auto& [id, count] : drawn) {
    const double expected =
        static_cast<double>(kRounds * kDrawn) / kPrefixes / peers_of[prefix_of_peer[id]];
    CHECK(std::abs(static_cast<double>(count) - expected) < 5 * std::sqrt(expected));
  }
}

}  // namespace
}  // namespace firn::tracker::test
