// Orders to an I/O thread, and the bound of a connection's frames among them.
#include "proto/transport/mailbox.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace firn;
using namespace firn::proto::transport;

namespace {

constexpr std::size_t kBytesMax = 1000;

proto::OutgoingFrame frame(std::size_t bytes) {
  return {std::string(bytes, 'x'), {}};
}

struct Opened {
  Wakeup wake;  // of no loop: it is signalled, and nobody hears
  Mailbox mailbox{kBytesMax};
  std::vector<Order> orders;

  Opened() {
    wake.hold();
    mailbox.open(&wake);
  }
  template <typename Kind>
  std::size_t count() const {
    std::size_t found = 0;
    for (const Order& order : orders) found += std::holds_alternative<Kind>(order) ? 1 : 0;
    return found;
  }
};

}  // namespace

TEST_CASE("frames that were taken leave room for as many more") {
  Opened f;
  for (int round = 0; round < 3; ++round) {
    f.mailbox.post_send(5, frame(600), 1);
    CHECK(f.mailbox.waiting_bytes(5) == 600);
    f.mailbox.post_send(5, frame(400), 1);
    f.mailbox.post_send(6, frame(1000), 1);
    f.mailbox.take(f.orders);
    CHECK(f.orders.size() == 3);
    CHECK(f.count<SendOrder>() == 3);
    CHECK(f.mailbox.waiting_bytes(5) == 0);
  }
}

TEST_CASE("the first frame past the bound becomes an overflow, the next ones nothing") {
  Opened f;
  f.mailbox.post_send(5, frame(1000), 1);
  f.mailbox.post_send(5, frame(1), 1);
  f.mailbox.post_send(5, frame(1), 1);
  f.mailbox.take(f.orders);
  CHECK(f.count<SendOrder>() == 1);
  CHECK(f.count<OverflowOrder>() == 1);
}

TEST_CASE("a run counts with the bytes of all its frames") {
  Opened f;
  f.mailbox.post_run(5, std::vector<proto::Block>(4), 960, 1);
  CHECK(f.mailbox.waiting_bytes(5) == 960);
  f.mailbox.post_send(5, frame(41), 1);
  f.mailbox.take(f.orders);
  REQUIRE(f.orders.size() == 2);
  CHECK(std::get<std::vector<proto::Block>>(std::get<SendOrder>(f.orders[0]).what).size() == 4);
  CHECK(std::holds_alternative<OverflowOrder>(f.orders[1]));
}
