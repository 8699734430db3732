// How much the word of neighbours weighs, by where they come from.
#include "client/core/send/source/voices.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codec/random.h"
#include "tests/core/send/source/reported_source.h"

using namespace firn;
using namespace firn::test;
using core::Said;

namespace {

// Reporters 1, 2, ... at these addresses.
class Placed {
 public:
  explicit Placed(const std::vector<std::string>& ips) {
    for (std::size_t i = 0; i < ips.size(); ++i) {
      const auto key = static_cast<PeerKey>(i + 1);
      neighbours_.add(std::make_unique<core::Neighbour>(
          key, numbered(static_cast<std::uint32_t>(key)), ips[i], 4000, false, kSecond));
    }
    std::vector<const core::Neighbour*> all;
    for (const core::Neighbour& n : std::as_const(neighbours_)) all.push_back(&n);
    voices_.review(all);
  }
  double weight(PeerKey key) const { return voices_.weight(key); }

 private:
  core::Neighbours neighbours_;
  core::Voices voices_;
};

}  // namespace

TEST_CASE("identities of one address weigh together as one") {
  const Placed placed({"10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2"});
  for (PeerKey key = 1; key <= 4; ++key) CHECK(placed.weight(key) == 0.25);
  CHECK(placed.weight(5) == 1);
}

TEST_CASE("in one local network each address counts, among several each network") {
  const Placed local({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.1.1"});
  for (PeerKey key = 1; key <= 4; ++key) CHECK(local.weight(key) == 1);
  const Placed wide({"10.0.0.1", "10.0.0.2", "10.0.1.1", "10.0.2.1"});
  CHECK(wide.weight(1) == 0.5);
  CHECK(wide.weight(2) == 0.5);
  CHECK(wide.weight(3) == 1);
}

TEST_CASE("of IPv6 a /64 is an address, and a /48 a network") {
  const Placed few({"2001:db8:1:1::1", "2001:db8:1:1::2", "2001:db8:1:2::1", "2001:db8:2::1"});
  CHECK(few.weight(1) == 0.5);
  CHECK(few.weight(3) == 1);
  const Placed wide({"2001:db8:1:1::1", "2001:db8:1:2::1", "2001:db8:2::1", "2001:db8:3::1"});
  CHECK(wide.weight(1) == 0.5);
  CHECK(wide.weight(2) == 0.5);
  CHECK(wide.weight(3) == 1);
}

TEST_CASE("where all weigh alike a share of values is a share of those who say them") {
  codec::CoefficientStream random(3, 7);
  for (std::size_t count = 1; count <= 40; ++count) {
    std::vector<Said> said;
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(random.below(20));
      said.push_back({values.back(), 1.0});
    }
    std::sort(values.rbegin(), values.rend());
    for (const double share : {0.0, 0.25, 0.4, 0.9}) {
      const auto place = static_cast<std::size_t>(share * static_cast<double>(count));
      CHECK(core::reached_by(said, share) == values[place]);
    }
  }
}

TEST_CASE("eight that speak with one voice do not outvote five") {
  std::vector<Said> said(8, Said{0, 1.0 / 8});
  for (int i = 0; i < 5; ++i) said.push_back({10, 1});
  CHECK(core::reached_by(said, 0.4) == 10);
  for (Said& one : said) one.weight = 1;
  CHECK(core::reached_by(said, 0.4) == 0);
}

// 1 to 5 are honest, the others praise one another.
TEST_CASE("a source believes five peers rather than seven identities of one address") {
  for (const bool together : {true, false}) {
    CAPTURE(together);
    Reported swarm(12, 0, together ? 6 : 255);
    const auto says = [](int by, int of) {
      if (by <= 5) return of <= 5 ? 10u : 0u;
      return of > 5 ? 10u : 0u;
    };
    for (int i = 0; i < 12; ++i) swarm.review(says);
    for (PeerKey key = 1; key <= 5; ++key) CHECK((swarm.neighbour(key).worth > 0.5) == together);
    for (PeerKey key = 6; key <= 12; ++key) CHECK((swarm.neighbour(key).worth > 0.5) != together);
  }
}
