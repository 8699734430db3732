#include <doctest/doctest.h>

#include <random>

#include "proto/transport/send_queue.h"
#include "tests/transport/recorder.h"

namespace firn::proto::transport {
namespace {

using test::Bytes;
using test::frame_of;
using test::random_bytes;

TEST_CASE("the records of a queue are the bytes of its frames, none over a record's size") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    SendQueue queue;
    Bytes expected;
    Bytes sent;
    const auto drain_some = [&](std::size_t records) {
      while (records-- > 0 && !queue.empty()) {
        const auto record = queue.record();
        REQUIRE(!record.empty());
        REQUIRE(record.size() <= kTlsRecordBytes);
        REQUIRE(queue.record().data() == record.data());  // the same until consumed
        sent.insert(sent.end(), record.begin(), record.end());
        queue.consume(record.size());
      }
    };
    for (int i = 0; i < 20; ++i) {
      const std::size_t bytes = random() % (random() % 3 == 0 ? 100'000 : 300);
      const Bytes body = random_bytes(random, bytes);
      OutgoingFrame frame = frame_of(body, random() % (bytes + 1));
      expected.insert(expected.end(), frame.head.begin(), frame.head.end());
      expected.insert(expected.end(), frame.payload.bytes().begin(), frame.payload.bytes().end());
      queue.push(std::move(frame));
      REQUIRE(queue.bytes() == expected.size() - sent.size());
      drain_some(random() % 4);
    }
    drain_some(~std::size_t{0});
    CHECK(queue.empty());
    CHECK(sent == expected);
  }
}

TEST_CASE("a record consumed in parts goes on where it stopped") {
  std::mt19937_64 random(8);
  const Bytes body = random_bytes(random, 50'000);
  const OutgoingFrame frame = frame_of(body, 40);
  Bytes expected(frame.head.begin(), frame.head.end());
  expected.insert(expected.end(), frame.payload.bytes().begin(), frame.payload.bytes().end());
  SendQueue queue;
  queue.push(frame);
  Bytes sent;
  while (!queue.empty()) {
    const auto record = queue.record();
    const std::size_t part = 1 + random() % record.size();
    sent.insert(sent.end(), record.begin(), record.begin() + static_cast<std::ptrdiff_t>(part));
    queue.consume(part);
  }
  CHECK(sent == expected);
}

TEST_CASE("a small head shares its record with the payload, and payload bytes are not copied") {
  std::mt19937_64 random(9);
  const OutgoingFrame frame = frame_of(random_bytes(random, 65'536), 100);
  SendQueue queue;
  queue.push(frame);
  CHECK(queue.record().size() == kTlsRecordBytes);
  queue.consume(queue.record().size());
  const auto second = queue.record();
  CHECK(second.data() == frame.payload.bytes().data() + kTlsRecordBytes - frame.head.size());
}

}  // namespace
}  // namespace firn::proto::transport
