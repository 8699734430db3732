// What a neighbour is to be told.
#include "client/core/neighbour/untold.h"

#include <doctest/doctest.h>

#include <memory>

#include "client/core/neighbour/neighbours.h"
#include "codec/random.h"
#include "tests/core/fixture.h"

using namespace firn;
using core::TimeUs;
using core::Untold;

namespace {

using Numbers = std::vector<std::uint32_t>;
using Spans = std::vector<proto::Span>;

}  // namespace

TEST_CASE("complete generations are told as runs, each once, as many runs as fit") {
  Untold untold;
  untold.begin({7, 1, 2}, {}, {}, {});
  untold.report_complete(3);
  untold.report_complete(2);  // the neighbour has sent a block of it: it is told again
  CHECK(untold.complete_pending());
  CHECK(untold.take_complete(1) == Spans{{1, 3}});
  CHECK(untold.take_complete(1) == Spans{{7, 1}});
  CHECK(untold.take_complete(1).empty());
  CHECK_FALSE(untold.pending());
}

TEST_CASE("changed generations are told in order, and not once they are complete") {
  Untold untold;
  untold.begin({}, {}, {}, {});
  for (const std::uint32_t g : {5, 2, 9, 2}) untold.report(g);
  untold.report_complete(5);
  CHECK(untold.take_changed(1) == Numbers{2});
  CHECK(untold.take_changed(8) == Numbers{9});
  CHECK(untold.take_complete(8) == Spans{{5, 1}});
}

TEST_CASE("of a generation that was lost or regained the last word is told") {
  Untold untold;
  untold.begin({}, {}, {}, {});
  untold.report_verified(4);
  untold.report_lost(4);
  CHECK(untold.urgent());
  untold.report_withdrawn(4);
  CHECK(untold.take_complete(8).empty());
  untold.report_verified(4);
  CHECK(untold.take_withdrawn(8).empty());
  CHECK(untold.take_complete(8) == Spans{{4, 1}});
}

TEST_CASE("a null vector is told once, and not of a generation that has been verified") {
  Untold untold;
  untold.begin({}, {}, {}, {});
  untold.attach_null_vector(1, {1, 2});
  untold.attach_null_vector(2, {3, 4});
  untold.report_verified(2);
  CHECK(untold.take_changed(8) == Numbers{1});
  CHECK(untold.take_null_vector(1) == std::vector<std::uint8_t>{1, 2});
  CHECK(untold.take_null_vector(1).empty());
  CHECK(untold.take_null_vector(2).empty());
}

TEST_CASE("what is due is worked out anew when there is news for the first time, or a block came") {
  Untold untold;
  untold.begin({}, {}, {}, {});
  untold.set_due(100);
  untold.report(1);
  CHECK(untold.due() == 0);
  untold.set_due(100);
  untold.report(2);  // there was news already
  CHECK(untold.due() == 100);
  untold.arrived(1);
  CHECK(untold.due() == 0);
  CHECK(untold.take_acknowledgement() == 1);
  CHECK(untold.take_connections(3) == 3);
  CHECK(untold.take_connections(3) == 0);  // as the neighbour knows
  CHECK(untold.take_connections(4) == 4);
}

namespace {

// Neighbours to which things happen by chance, and beside each what it would be told if each change
// had been noted for it by itself.
class Told {
 public:
  explicit Told(std::uint64_t seed) : random_(seed, 1), plain_(kPeers) {
    for (std::uint32_t i = 0; i < kPeers; ++i) connect(i);
  }
  void happen() {
    const std::uint32_t i = random_.below(kPeers), g = random_.below(4);
    const std::uint32_t deed = random_.below(40);
    if (deed == 0) {
      neighbours_.erase(1 + i);
      connect(i);
    } else if (deed < 6) {
      neighbours_.report_verified(g);
      for (Untold& one : plain_)
        if (one.begun()) one.report_verified(g);
    } else if (deed < 18) {
      const std::uint64_t walks = neighbours_.walks();
      neighbours_.report(g);
      CHECK(neighbours_.walks() == walks);
      for (Untold& one : plain_)
        if (one.begun()) one.report(g);
    } else {
      concern(deed, g, neighbours_.at(1 + i).untold, plain_[i]);
    }
  }
  void compare() {
    for (std::uint32_t i = 0; i < kPeers; ++i) {
      const Untold& one = neighbours_.at(1 + i).untold;
      if (!plain_[i].begun()) continue;
      REQUIRE(one.pending() == plain_[i].pending());
      REQUIRE(one.due() == plain_[i].due());
    }
  }

 private:
  static constexpr std::uint32_t kPeers = 6;

  void connect(std::uint32_t i) {
    neighbours_.add(std::make_unique<core::Neighbour>(1 + i, firn::test::numbered(i), "192.0.2.1",
                                                      std::uint16_t{1}, false, 0));
    plain_[i] = Untold();
  }
  void concern(std::uint32_t deed, std::uint32_t g, Untold& untold, Untold& plain) {
    const std::size_t most = 1 + random_.below(5);
    for (Untold* one : {&untold, &plain}) {
      if (deed < 20) {
        one->report(g);
      } else if (!one->begun() || deed == 20) {
        one->begin({}, {}, {}, {g});
        one->told(1);
      } else if (deed < 24) {
        one->set_due(100);
      } else if (one == &untold) {
        CHECK(untold.take_changed(most) == plain.take_changed(most));
        CHECK(untold.take_complete(8) == plain.take_complete(8));
        untold.told(1);
        plain.told(1);
      }
    }
  }
  codec::CoefficientStream random_;
  core::Neighbours neighbours_;
  std::vector<Untold> plain_;
};

}  // namespace

TEST_CASE("a change that concerns all is told to each once, as if noted for each by itself") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Told told(seed);
    for (int step = 0; step < 2000; ++step) {
      told.happen();
      told.compare();
    }
  }
}
