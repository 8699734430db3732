// What a neighbour is to be told.
#include "client/core/news.h"

#include <doctest/doctest.h>

#include <memory>

#include "client/core/neighbours.h"
#include "codec/random.h"
#include "tests/core/fixture.h"

using namespace firn;
using core::News;
using core::TimeUs;

namespace {

using Numbers = std::vector<std::uint32_t>;
using Spans = std::vector<proto::Span>;

}  // namespace

TEST_CASE("complete generations are told as runs, each once, as many runs as fit") {
  News news;
  news.begin({7, 1, 2}, {}, {});
  news.report_complete(3);
  news.report_complete(2);  // the neighbour has sent a block of it: it is told again
  CHECK(news.complete_pending());
  CHECK(news.take_complete(1) == Spans{{1, 3}});
  CHECK(news.take_complete(1) == Spans{{7, 1}});
  CHECK(news.take_complete(1).empty());
  CHECK_FALSE(news.pending());
}

TEST_CASE("changed generations are told in order, and not once they are complete") {
  News news;
  news.begin({}, {}, {});
  for (const std::uint32_t g : {5, 2, 9, 2}) news.report(g);
  news.report_complete(5);
  CHECK(news.take_changed(1) == Numbers{2});
  CHECK(news.take_changed(8) == Numbers{9});
  CHECK(news.take_complete(8) == Spans{{5, 1}});
}

TEST_CASE("of a generation that was lost or regained the last word is told") {
  News news;
  news.begin({}, {}, {});
  news.report_verified(4);
  news.report_lost(4);
  CHECK(news.urgent());
  news.report_withdrawn(4);
  CHECK(news.take_complete(8).empty());
  news.report_verified(4);
  CHECK(news.take_withdrawn(8).empty());
  CHECK(news.take_complete(8) == Spans{{4, 1}});
}

TEST_CASE("a null vector is told once, and not of a generation that has been verified") {
  News news;
  news.begin({}, {}, {});
  news.attach_null_vector(1, {1, 2});
  news.attach_null_vector(2, {3, 4});
  news.report_verified(2);
  CHECK(news.take_changed(8) == Numbers{1});
  CHECK(news.take_null_vector(1) == std::vector<std::uint8_t>{1, 2});
  CHECK(news.take_null_vector(1).empty());
  CHECK(news.take_null_vector(2).empty());
}

TEST_CASE("what is due is worked out anew when there is news for the first time, or a block came") {
  News news;
  news.begin({}, {}, {});
  news.set_due(100);
  news.report(1);
  CHECK(news.due() == 0);
  news.set_due(100);
  news.report(2);  // there was news already
  CHECK(news.due() == 100);
  news.arrived(1);
  CHECK(news.due() == 0);
  CHECK(news.take_acknowledgement() == 1);
  CHECK(news.take_connections(3) == 3);
  CHECK(news.take_connections(3) == 0);  // as the neighbour knows
  CHECK(news.take_connections(4) == 4);
}

TEST_CASE(
    "a change that concerns all is told to each once, as if each had been told of it by itself") {
  constexpr std::uint32_t kPeers = 6, kGenerations = 12;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    codec::CoefficientStream random(seed, 1);
    core::Neighbours neighbours;
    std::vector<News> plain(kPeers);
    const auto connect = [&](std::uint32_t i) {
      neighbours.add(std::make_unique<core::Neighbour>(1 + i, firn::test::numbered(i), "192.0.2.1",
                                                       std::uint16_t{1}, false, 0));
      plain[i] = News();
    };
    for (std::uint32_t i = 0; i < kPeers; ++i) connect(i);
    for (int step = 0; step < 600; ++step) {
      const std::uint32_t i = random.below(kPeers), g = random.below(kGenerations);
      News& news = neighbours.at(1 + i).news;
      const auto both = [&](const auto& f) {
        f(news);
        f(plain[i]);
      };
      const std::uint32_t deed = random.below(40);
      if (deed == 0) {
        neighbours.erase(1 + i);
        connect(i);
        continue;
      }
      if (deed < 6) {
        neighbours.report_verified(g);
        for (News& one : plain) {
          if (one.begun()) one.report_verified(g);
        }
      } else if (deed < 18) {
        const std::uint64_t walks = neighbours.walks();
        neighbours.report(g);
        CHECK(neighbours.walks() == walks);
        for (News& one : plain) {
          if (one.begun()) one.report(g);
        }
      } else if (deed < 20) {
        both([g](News& one) { one.report(g); });
      } else if (!news.begun() || deed == 20) {
        both([g](News& one) {
          one.begin({}, {}, {g});
          one.told(1);
        });
      } else if (deed < 24) {
        both([](News& one) { one.set_due(100); });
      } else {
        const std::size_t most = 1 + random.below(5);
        CHECK(news.take_changed(most) == plain[i].take_changed(most));
        CHECK(news.take_complete(8) == plain[i].take_complete(8));
        both([](News& one) { one.told(1); });
      }
      for (std::uint32_t at = 0; at < kPeers; ++at) {
        const News& one = neighbours.at(1 + at).news;
        if (!plain[at].begun()) continue;
        REQUIRE(one.pending() == plain[at].pending());
        REQUIRE(one.due() == plain[at].due());
      }
    }
  }
}
