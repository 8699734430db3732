// The counting of the tracker's load.
#include "tests/tracker_load/tally.h"

#include <doctest/doctest.h>

#include <set>

#include "proto/messages.h"
#include "tests/tracker_load/workload.h"

namespace firn::tracker_load {
namespace {

TEST_CASE("a part of the latencies is told within a sixteenth") {
  Latencies latencies;
  for (TimeUs latency = 1; latency <= 100'000; ++latency) latencies.add(latency);
  for (const double part : {0.01, 0.5, 0.99, 0.999}) {
    const auto right = static_cast<double>(part * 100'000);
    CHECK(static_cast<double>(latencies.part(part)) >= right);
    CHECK(static_cast<double>(latencies.part(part)) <= right * 17 / 16 + 1);
  }
  Latencies twice = latencies;
  twice.add(latencies);
  CHECK(twice.total() == 200'000);
  CHECK(twice.part(0.5) == latencies.part(0.5));
}

TEST_CASE("the first content of a Zipf workload is announced most, and a party always the same") {
  const Workload workload({.contents = 10, .zipf = 1, .contents_of_party = 2});
  std::vector<std::size_t> counts(10);
  for (std::size_t party = 0; party < 10'000; ++party) {
    CHECK(workload.contents_of(party) == workload.contents_of(party));
    for (const std::uint32_t content : workload.contents_of(party)) ++counts[content];
  }
  // 20,000 draws over ranks with the shares 1/r: of the first 6,829, of the tenth 683.
  CHECK(counts[0] > 6400);
  CHECK(counts[0] < 7300);
  CHECK(counts[9] > 550);
  CHECK(counts[9] < 820);
}

TEST_CASE("parties announce what the tracker understands") {
  const Workload workload({.contents = 3, .peers_wanted = 7});
  const std::string& frame = workload.announce(2, true);
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(frame.data()), frame.size());
  const auto request = proto::parse_tracker_request(bytes.subspan(4));
  REQUIRE(request.ok());
  const auto& announce = std::get<proto::Announce>(*request);
  CHECK(announce.content_id == workload.id_of(2));
  CHECK(announce.complete);
  CHECK(announce.peers_wanted == 7);
}

TEST_CASE("addresses of parties lie in different prefixes first") {
  std::set<std::string> prefixes;
  for (std::size_t party = 0; party < 62'500; ++party)
    prefixes.insert(source_ip(party).substr(0, source_ip(party).rfind('.')));
  CHECK(prefixes.size() == 62'500);
}

}  // namespace
}  // namespace firn::tracker_load
