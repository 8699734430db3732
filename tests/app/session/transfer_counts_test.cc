#include "client/app/session/transfer_counts.h"

#include <doctest/doctest.h>

using namespace firn::app;

namespace {

Arrivals arrived(std::uint64_t from_peers, std::uint64_t from_origins = 0) {
  Arrivals arrivals;
  arrivals.from_peers = from_peers;
  arrivals.from_origins = from_origins;
  return arrivals;
}

}  // namespace

TEST_CASE("counts of a session go up with its figures, and never down") {
  TransferCounts all;
  SessionCounts session;
  session.take(arrived(100, 10), 150, 5, all);
  session.take(arrived(60, 10), 150, 5, all);  // lost
  CHECK(session.counts().from_peers == 100);
  session.take(arrived(90, 20), 200, 5, all);  // and fetched again
  CHECK(session.counts().from_peers == 130);
  CHECK(session.counts().from_origins == 20);
  CHECK(all.from_peers == 130);
  CHECK(all.received == 200);
}

TEST_CASE("what sessions counted is there when they are gone") {
  TransferCounts all;
  for (int i = 0; i < 3; ++i) SessionCounts().take(arrived(100), 120, 7, all);
  CHECK(all.from_peers == 300);
  CHECK(all.sent == 21);
}

TEST_CASE("origins are counted by server, without what a URL says of a content") {
  TransferCounts all;
  Arrivals arrivals;
  arrivals.origins = {
      {"https://a:80/plans.bin", 10, ""}, {"https://a:80/other/", 5, ""}, {"s3://b", 3, ""}};
  SessionCounts().take(arrivals, 0, 0, all);
  CHECK(all.origins == std::map<std::string, std::uint64_t>{{"https://a:80", 15}, {"s3://b", 3}});
}

TEST_CASE("origins are counted by name up to a bound, then together") {
  TransferCounts all;
  Arrivals arrivals;
  for (std::size_t i = 0; i < TransferCounts::kOriginsMax + 3; ++i)
    arrivals.origins.push_back({"https://" + std::to_string(i) + "/a", 10, ""});
  SessionCounts session;
  session.take(arrivals, 0, 0, all);
  CHECK(all.origins.size() == TransferCounts::kOriginsMax + 1);
  CHECK(all.origins.at(TransferCounts::kOthers) == 30);
  session.take(arrivals, 0, 0, all);
  CHECK(all.origins.at(TransferCounts::kOthers) == 30);
}
