#include "proto/transport/liveness.h"

#include <doctest/doctest.h>

namespace firn::proto::transport {
namespace {

using std::chrono::milliseconds;

constexpr int kNoSocket = -1;

Options with(milliseconds idle, milliseconds silence) {
  Options options;
  options.idle_timeout = idle;
  options.silence_timeout = silence;
  return options;
}

TEST_CASE("a connection is given up when nothing has shown life for the idle timeout") {
  Liveness liveness(with(milliseconds(100), milliseconds(0)));
  liveness.shown(1000);
  CHECK(liveness.next_look_ms(1000) == 1100);
  CHECK_FALSE(liveness.look(kNoSocket, false, 1099));
  liveness.shown(1050);
  CHECK_FALSE(liveness.look(kNoSocket, false, 1100));
  CHECK(liveness.next_look_ms(1100) == 1150);
  CHECK(liveness.look(kNoSocket, false, 1150) == "nothing received for 100 ms");
  CHECK(liveness.look(kNoSocket, true, 1150) == "the other side took nothing for 100 ms");
}

TEST_CASE("without timeouts nothing is looked for") {
  Liveness liveness(with(milliseconds(0), milliseconds(0)));
  CHECK(liveness.next_look_ms(1000) == Liveness::kNever);
  CHECK_FALSE(liveness.look(kNoSocket, false, 1'000'000'000));
}

TEST_CASE("a silence timeout is looked after a few times before it can have run out") {
  Liveness liveness(with(milliseconds(0), milliseconds(400)));
  CHECK(liveness.next_look_ms(1000) == 1100);
  Liveness both(with(milliseconds(30), milliseconds(400)));
  both.shown(1000);
  CHECK(both.next_look_ms(1000) == 1030);
}

TEST_CASE("a socket of which the kernel tells nothing owes no answer") {
  Liveness liveness(with(milliseconds(0), milliseconds(400)));
  for (std::uint64_t now = 0; now < 4000; now += 100)
    CHECK_FALSE(liveness.look(kNoSocket, false, now));
}

}  // namespace
}  // namespace firn::proto::transport
