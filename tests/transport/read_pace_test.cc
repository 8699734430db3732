#include "proto/transport/read_pace.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

using firn::proto::transport::ReadPace;

namespace {

// A path that carries `bytes_per_ms` without a pause, in records of `kRecord`, to a reader that
// looks when ReadPace says, or when the socket would wake it: with the next byte, at the earliest
// 0.1 ms later.
struct Stream {
  static constexpr std::uint64_t kRecord = 16'400;
  double bytes_per_ms;
  ReadPace pace;
  std::uint64_t now_us = 0;
  std::size_t looks = 0;
  std::uint64_t latest_us = 0;  // for which a whole record waited to be looked at

  void run(std::size_t records) {
    std::uint64_t seen = 0;
    while (seen / kRecord < records) {
      const auto received =
          static_cast<std::uint64_t>(bytes_per_ms * static_cast<double>(now_us) / 1000);
      for (std::uint64_t end = (seen / kRecord + 1) * kRecord; end <= received; end += kRecord) {
        const auto whole_us =
            static_cast<std::uint64_t>(static_cast<double>(end) / bytes_per_ms * 1000);
        latest_us = std::max(latest_us, now_us - std::min(now_us, whole_us));
      }
      seen = received;
      ++looks;
      const std::size_t awaited = received % kRecord == 0 ? 0 : kRecord - received % kRecord;
      const std::uint64_t rest = pace.rest_ms(awaited, received, now_us);
      const double next_segment_us = 1448 / bytes_per_ms * 1000;
      now_us +=
          rest > 0 ? rest * 1000 : static_cast<std::uint64_t>(std::max(next_segment_us, 100.0));
    }
  }
};

}  // namespace

TEST_CASE("between records the next byte is news, and reading does not rest") {
  ReadPace pace;
  CHECK(pace.rest_ms(0, 500, 1'000) == 0);
  CHECK(pace.rest_ms(0, 900, 9'000) == 0);
}

TEST_CASE("reading rests until the record should be there, at the rate at which it comes") {
  ReadPace pace;
  CHECK(pace.rest_ms(15'000, 1'400, 0) == 2);       // no rate is known: a short look
  CHECK(pace.rest_ms(13'000, 3'400, 2'000) == 13);  // 1 MB/s
  CHECK(pace.rest_ms(0, 16'400, 15'000) == 0);
  CHECK(pace.rest_ms(10'000, 22'800, 100'000) == 10);  // the next record, at the same rate
}

TEST_CASE("a slow record is looked at before the kernel acknowledges by itself") {
  ReadPace pace;
  (void)pace.rest_ms(16'000, 400, 0);
  for (std::uint64_t i = 1; i < 10; ++i)
    CHECK(pace.rest_ms(16'000 - i, 400 + i, i * 1'000'000) == 24);
}

TEST_CASE("a record that stands still is left to the socket") {
  ReadPace pace;
  CHECK(pace.rest_ms(16'000, 400, 0) > 0);
  for (std::uint64_t i = 1; i < 10; ++i) CHECK(pace.rest_ms(16'000, 400, i * 2'000) == 0);
  CHECK(pace.rest_ms(14'000, 2'400, 20'000) > 0);
}

TEST_CASE("nothing rests where the rest of a record is there in less than a millisecond") {
  ReadPace pace;
  (void)pace.rest_ms(16'000, 400, 0);
  CHECK(pace.rest_ms(8'000, 8'400, 10) == 0);
}

TEST_CASE(
    "for the last segments of a slow record reading rests too, as they would be acknowledged") {
  ReadPace pace;
  (void)pace.rest_ms(16'000, 400, 0);
  CHECK(pace.rest_ms(2'000, 14'400, 14'000) == 2);  // 1 MB/s
}

TEST_CASE("a block that has just begun is left alone until all of it should be there") {
  ReadPace pace;
  (void)pace.rest_ms(15'000, 1'400, 0);
  (void)pace.rest_ms(0, 16'400, 15'000);             // 1 MB/s, 16,400 bytes are usual
  CHECK(pace.first_rest_ms(1'400, 100'000) == 18);   // 15 ms, and a margin
  CHECK(pace.rest_ms(2'000, 30'800, 118'000) == 2);  // 13,000 in 18 ms, and before it 1 MB/s
}

TEST_CASE("nothing rests before a record that is there, is small or of unknown length") {
  ReadPace pace;
  CHECK(pace.first_rest_ms(1'400, 0) == 0);  // nothing is known
  (void)pace.rest_ms(15'000, 1'400, 0);
  CHECK(pace.first_rest_ms(1'400, 5'000) == 0);  // a rate, but no length
  (void)pace.rest_ms(0, 16'400, 15'000);
  CHECK(pace.first_rest_ms(130, 100'000) == 0);
  CHECK(pace.first_rest_ms(16'400, 100'000) == 0);
  CHECK(pace.first_rest_ms(0, 100'000) == 0);  // the other side has ended
}

TEST_CASE("small records do not change what length is usual") {
  ReadPace pace;
  (void)pace.rest_ms(15'000, 1'400, 0);
  (void)pace.rest_ms(0, 16'400, 15'000);
  (void)pace.rest_ms(0, 16'530, 50'000);
  CHECK(pace.first_rest_ms(1'400, 100'000) == 18);
}

TEST_CASE("a path that has become fast is seen to be, and nothing rests there") {
  ReadPace pace;
  std::uint64_t received = 16'400, now = 15'000;
  (void)pace.rest_ms(15'000, 1'400, 0);
  (void)pace.rest_ms(0, received, now);
  std::size_t rests = 0;
  for (int record = 0; record < 100; ++record) {
    // The reader sleeps while 100 MB/s come in, up to a window of 200,000 bytes.
    const std::uint64_t rest = pace.first_rest_ms(1'400, now);
    if (rest > 0) ++rests;
    now += rest * 1'000 + 150;
    received += rest > 0 ? 196'800 : 16'400;
    (void)pace.rest_ms(0, received, now);
  }
  CHECK(rests <= 3);
}

TEST_CASE("on a steady stream records are read soon after they are whole, in few looks") {
  for (const double bytes_per_ms : {500, 1'000, 2'000, 4'000, 8'000}) {
    CAPTURE(bytes_per_ms);
    Stream stream{bytes_per_ms, {}};
    stream.run(500);
    CHECK(stream.latest_us <= 8'000);
    // Segment by segment it would be twelve looks for each record.
    CHECK(stream.looks < 500 * 9);
  }
}
