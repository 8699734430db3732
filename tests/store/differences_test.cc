#include "client/store/differences.h"

#include <doctest/doctest.h>

#include <random>

namespace firn::store::differences_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes patched(Bytes there, const Bytes& wanted, const std::vector<ByteRun>& runs) {
  for (const ByteRun& run : runs) {
    for (std::size_t i = run.begin; i < run.begin + run.bytes; ++i) there[i] = wanted[i];
  }
  return there;
}

TEST_CASE("equal bytes need nothing, one other byte needs one") {
  const Bytes there(20'000, 7);
  CHECK(differing_runs(there, there).empty());
  CHECK(differing_runs({}, {}).empty());
  for (const std::size_t at : {0ul, 4095ul, 4096ul, 9000ul, 19'999ul}) {
    Bytes wanted = there;
    wanted[at] = 8;
    CHECK(differing_runs(there, wanted) == std::vector<ByteRun>{{at, 1}});
  }
}

TEST_CASE("runs that lie close together are one, others are not") {
  const Bytes there(50'000, 7);
  Bytes wanted = there;
  wanted[100] = wanted[200] = 1;
  wanted[40'000] = 1;
  CHECK(differing_runs(there, wanted) == std::vector<ByteRun>{{100, 101}, {40'000, 1}});
}

TEST_CASE("whatever differs, the runs make one the other") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Bytes there(random() % 30'000), wanted;
    for (auto& byte : there) byte = static_cast<std::uint8_t>(random());
    wanted = there;
    for (int i = static_cast<int>(random() % 6); i > 0 && !wanted.empty(); --i) {
      const std::size_t from = random() % wanted.size();
      const std::size_t end = std::min(from + random() % 9000, wanted.size());
      for (std::size_t at = from; at < end; ++at) wanted[at] = static_cast<std::uint8_t>(random());
    }
    CHECK(patched(there, wanted, differing_runs(there, wanted)) == wanted);
    const Bytes zeros(wanted.size(), 0);
    const std::uint64_t position = random() % 10'000;
    CHECK(patched(zeros, wanted, runs_beside_zeros(position, wanted)) == wanted);
  }
}

TEST_CASE("pages of zeros are left out, by their place in the file") {
  Bytes wanted(5 * 4096, 0);
  CHECK(runs_beside_zeros(0, wanted).empty());
  wanted[4096] = 1;
  CHECK(runs_beside_zeros(0, wanted) == std::vector<ByteRun>{{4096, 4096}});
  CHECK(runs_beside_zeros(1000, wanted) == std::vector<ByteRun>{{3096, 4096}});
  wanted[2 * 4096 + 5] = 1;
  CHECK(runs_beside_zeros(0, wanted) == std::vector<ByteRun>{{4096, 8192}});
}

}  // namespace
}  // namespace firn::store::differences_test
