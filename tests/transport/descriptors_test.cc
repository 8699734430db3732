#include "proto/transport/descriptors.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>
#include <vector>

#include "proto/transport/sockets.h"
#include "tests/transport/recorder.h"

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

TEST_CASE("connections that go out end at once where descriptors are needed for other things") {
  const Listening deaf = open_listening(Address{{}, "127.0.0.1", 0}).value();
  Options patient;
  patient.connect_timeout = std::chrono::hours(1);
  Node client(patient);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{128, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  const std::size_t most = connections_in_all_within(few.rlim_cur);
  const Address where{{}, "127.0.0.1", deaf.address.port()};
  std::vector<ConnectionId> out;
  for (std::size_t i = 0; i < most; ++i) out.push_back(client.transport->connect(where));
  const ConnectionId more = client.transport->connect(where);
  CHECK(client.recorder.wait_closed(more));
  CHECK(client.recorder.ending(more).code == ErrorCode::kBusy);
  for (const ConnectionId one : out) CHECK(client.recorder.connection(one).closed.empty());
  client.transport->close(out.front());
  CHECK(client.recorder.wait_closed(out.front()));
  const ConnectionId another = client.transport->connect(where);
  client.transport->close(another);
  CHECK(client.recorder.wait_closed(another));
  CHECK(client.recorder.ending(another).code == ErrorCode::kCancelled);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("a program that may open next to nothing does not start") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(have_descriptors_to_start().ok());
  const rlimit few{8, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  CHECK(have_descriptors_to_start().error().code == ErrorCode::kBusy);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}

}  // namespace
}  // namespace firn::proto::transport::test
