#include "proto/transport/descriptors.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

namespace firn::proto::transport::test {
namespace {

TEST_CASE("the limit of descriptors is raised as far as is allowed, and never lowered") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE(before.rlim_max > 300);
  const auto raised_from = [&](rlim_t now, std::size_t wanted) {
    const rlimit lower{now, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &lower) == 0);
    CHECK(descriptor_limit() == now);
    raise_descriptor_limit(wanted);
    const std::size_t reached = descriptor_limit();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    return reached;
  };
  CHECK(raised_from(200, 250) == 250);
  CHECK(raised_from(250, 200) == 250);
  CHECK(raised_from(250, std::size_t{1} << 62) == before.rlim_max);
}

TEST_CASE("connections leave half of the descriptors to others") {
  CHECK(connections_within(4096, 1 << 20) == 4096);
  CHECK(connections_within(4096, 1024) == 512);
  CHECK(connections_within(2, 1024) == 2);
  CHECK(connections_within(4096, 0) == 1);
  CHECK(connections_within(20'000, 20'000) == 15'904);
}

TEST_CASE("of what connections leave, half is for content files and a quarter for downloads") {
  for (const std::size_t descriptors : {64, 256, 1024, 16'384}) {
    CAPTURE(descriptors);
    const std::size_t others = descriptors - connections_within(1 << 20, descriptors);
    CHECK(open_files_within(descriptors) == others / 2);
    CHECK(downloads_within(descriptors) == others / 4);
  }
}

}  // namespace
}  // namespace firn::proto::transport::test
