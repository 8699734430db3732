#include <doctest/doctest.h>

#include "client/app/origin/transfers.h"

using namespace firn;
using namespace firn::app;

TEST_CASE("a build without libcurl names what it lacks") {
  const auto transfers = Transfers::start();
  REQUIRE_FALSE(transfers.ok());
  CHECK(transfers.error().code == ErrorCode::kUnsupported);
  CHECK(transfers.error().detail.find("libcurl4-openssl-dev") != std::string::npos);
  CHECK(transfers.error().detail.find("-Dcurl=enabled") != std::string::npos);
}
