// A claim to a top name: what a kill leaves of one goes, and what somebody holds stays.
#include "client/store/name_claim.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "client/store/posix_files.h"
#include "tests/store/sample_content.h"

namespace firn::store::name_claim_test {

namespace fs = std::filesystem;

TEST_CASE("what a kill has left of a claim is removed, what somebody holds is not") {
  const test::TemporaryFolder dir;
  const auto files = open_posix_files(dir.path(""), true);
  REQUIRE(files.ok());
  const fs::path left = dir.path(".firn/names/x/lock");
  NameClaim::clear(**files, "x");  // nothing is there, and nothing is made
  CHECK_FALSE(fs::exists(dir.path(".firn")));
  fs::create_directories(left.parent_path());
  std::ofstream(left).flush();
  NameClaim::clear(**files, "x");
  CHECK_FALSE(fs::exists(dir.path(".firn")));
  fs::create_directories(dir.path(".firn"));
  const auto held = NameClaim::take(**files, "x");
  REQUIRE(held.ok());
  NameClaim::clear(**files, "x");
  CHECK(fs::exists(left));
}

}  // namespace firn::store::name_claim_test
