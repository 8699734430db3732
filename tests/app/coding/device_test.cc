// The data plane with a device that is only pretended, and that fails as told.
#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>

#include "codec/encode.h"
#include "tests/app/coding/data_plane_bench.h"
#include "tests/codec/fake_device.h"

namespace firn::app {
namespace {

using tests::DataPlaneBench;
using tests::FakeDevice;
using Code = codec::BackendStatus::Code;

constexpr std::uint32_t kN = DataPlaneBench::kN;
constexpr std::uint32_t kGenerations = DataPlaneBench::kGenerations;

// Holds a thread at its call until it is opened.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

struct DeviceBench : DataPlaneBench {
  explicit DeviceBench(const BatchCoder::Options& options = {}, std::size_t row_bytes_max = 1 << 20)
      : DataPlaneBench(row_bytes_max) {
    auto first = std::make_unique<FakeDevice>(executor, 0, 0);
    auto second = std::make_unique<FakeDevice>(executor, 0, 0);
    device = first.get();
    spare = second.get();
    use_device(std::move(first), std::move(second), options);
    open(row_bytes_max);
  }
  // Ends the coder before the executor and what tests put into the device.
  ~DeviceBench() {
    plane.reset();
    coder.reset();
  }
  void decode_all() {
    for (std::uint32_t g = 0; g < kGenerations; ++g) plane->decode({g, fill(g).vectors}, now);
    settle();
  }
  void check_all_verified() {
    for (std::uint32_t g = 0; g < kGenerations; ++g) {
      CHECK(outcomes.decoded.at(g) == core::DecodeOutcome::kVerified);
      for (std::uint32_t slot = 0; slot < kN; ++slot) CHECK(outcomes.stored.contains({g, slot}));
    }
    plane->finish();
    settle();
    CHECK(outcomes.finished);
    std::ifstream file(target() + "/file", std::ios::binary);
    CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == text);
  }
  core::SendBlock dense(std::uint32_t g, bool exchangeable = true) {
    core::SendBlock send;
    send.block.generation = g;
    send.block.coefficients = codec::random_vector(kN, random);
    send.exchangeable = exchangeable;
    return send;
  }
  // Brings a generation's source blocks into memory.
  void load(std::uint32_t g) {
    plane->send_block(1'000'000 + g, dense(g, false), now);
    settle();
  }
  void check_exchanged(std::uint64_t ticket, std::uint32_t g) {
    REQUIRE(outcomes.made.contains(ticket));
    const auto payload = outcomes.made.at(ticket).bytes();
    CHECK(std::vector<std::uint8_t>(payload.begin(), payload.end()) ==
          combination(g, outcomes.exchanged.at(ticket)));
  }
  codec::SerialExecutor executor;
  FakeDevice* device;  // the coder's; gone once it is dropped
  FakeDevice* spare;
};

TEST_CASE("generations are decoded on the device, checked and written") {
  DeviceBench bench;
  bench.decode_all();
  bench.check_all_verified();
  CHECK(bench.coder->counts().decoded_by_devices == kGenerations);
  CHECK(bench.spare->decoded.empty());
  CHECK(bench.store->rows_written == 0);
}

TEST_CASE("what is ready while the device is busy goes into one batch") {
  DeviceBench bench({.batch_bytes = 1});  // so that the first one waits for no other
  Gate gate;
  bench.device->before = [&] { gate.pass(); };
  bench.plane->decode({0, bench.fill(0).vectors}, bench.now);
  CHECK(bench.coder->task_count() == 1);
  bench.plane->decode({1, bench.fill(1).vectors}, bench.now);
  bench.plane->decode({2, bench.fill(2).vectors}, bench.now);
  gate.open();
  bench.settle();
  bench.check_all_verified();
  CHECK(bench.device->decoded == std::vector<std::size_t>{1, 1, 1});  // one byte: one at a time

  DeviceBench together;
  Gate second;
  together.device->before = [&] { second.pass(); };
  for (std::uint32_t g = 0; g < kGenerations; ++g)
    together.plane->decode({g, together.fill(g).vectors}, together.now);
  second.open();
  together.settle();
  together.check_all_verified();
  CHECK(together.coder->counts().decoded_by_devices == kGenerations);
}

TEST_CASE("source blocks alone are put together without the device") {
  DeviceBench bench;
  std::vector<core::Vector> vectors;
  for (std::uint32_t slot = 0; slot < kN; ++slot) {
    core::StoreRow row = bench.row(1, slot, 1);
    const auto unit = codec::unit_vector(kN, kN - 1 - slot);
    row.vector = std::make_shared<const std::vector<std::uint8_t>>(unit);
    row.payload = proto::Payload::copy_of(bench.combination(1, unit));
    vectors.push_back(row.vector);
    bench.plane->store_row(row, bench.now);
  }
  bench.plane->decode({1, vectors}, bench.now);
  bench.settle();
  CHECK(bench.outcomes.decoded.at(1) == core::DecodeOutcome::kVerified);
  CHECK(bench.device->decoded.empty());
}

TEST_CASE("a device that fails in the middle of a batch costs nothing but itself") {
  for (const Code code : {Code::kFailed, Code::kOutOfMemory}) {
    DeviceBench bench;
    bench.device->outcomes.assign(8, code);
    bench.decode_all();
    bench.check_all_verified();
    CHECK(bench.dropped_devices == std::vector<std::string>{"fake: told to"});
    CHECK_FALSE(bench.coder->useful());
    CHECK(bench.coder->counts().decoded_by_devices == 0);
  }
}

TEST_CASE("a device short of memory gets fewer at a time") {
  DeviceBench bench;
  bench.device->generations_max = 1;
  bench.decode_all();
  bench.check_all_verified();
  CHECK(bench.dropped_devices.empty());
  CHECK(bench.coder->counts().decoded_by_devices == kGenerations);
}

TEST_CASE("a false row is found on the device's results too") {
  DeviceBench bench;
  const auto polluted = bench.fill(0, {3});
  bench.plane->decode({0, polluted.vectors}, bench.now);
  bench.settle();
  CHECK(bench.outcomes.decoded.at(0) == core::DecodeOutcome::kCorrupt);
}

TEST_CASE("rows that were evicted are read back before they go to the device") {
  DeviceBench bench({}, 3 * DataPlaneBench::kK);
  const auto rows = bench.fill(0);
  bench.pass(kSpoolDelayFew);
  bench.plane->decode({0, rows.vectors}, bench.now);
  bench.settle();
  CHECK(bench.outcomes.decoded.at(0) == core::DecodeOutcome::kVerified);
  CHECK(bench.coder->counts().decoded_by_devices == 1);
  CHECK(bench.store->rows_read >= static_cast<int>(kN) - 3);
}

TEST_CASE("rows that are gone, or that lack rank, fail the decode and nothing else") {
  DeviceBench bench;
  core::Decode gone{0, {}};
  for (std::uint32_t slot = 0; slot < kN; ++slot)
    gone.vectors.push_back(bench.row(0, slot, 1).vector);
  bench.plane->decode(gone, bench.now);
  auto twice = bench.fill(1);
  twice.vectors[1] = twice.vectors[0];
  bench.plane->decode({1, twice.vectors}, bench.now);
  bench.settle();
  CHECK(bench.outcomes.decoded.at(0) == core::DecodeOutcome::kFailed);
  CHECK(bench.outcomes.decoded.at(1) == core::DecodeOutcome::kFailed);
  CHECK(bench.dropped_devices.empty());
}

TEST_CASE("a disk that is full keeps what the device has decoded") {
  DeviceBench bench;
  const auto rows = bench.fill(2);
  bench.store->write_failures = 1;
  bench.plane->decode({2, rows.vectors}, bench.now);
  bench.settle();
  CHECK(bench.outcomes.paused == 1);
  CHECK(bench.outcomes.decoded.empty());
  bench.pass(DiskQueue::kRetryInterval);
  CHECK(bench.outcomes.decoded.at(2) == core::DecodeOutcome::kVerified);
  CHECK(bench.coder->counts().decoded_by_devices == 1);
}

TEST_CASE("closing waits for what the device is decoding") {
  DeviceBench bench;
  Gate gate;
  bench.device->before = [&] { gate.pass(); };
  bench.plane->decode({0, bench.fill(0).vectors}, bench.now);
  bool closed = false;
  bench.plane->close(bench.now, [&] { closed = true; });
  CHECK_FALSE(closed);
  gate.open();
  bench.settle();
  CHECK(closed);
  CHECK(bench.outcomes.decoded.at(0) == core::DecodeOutcome::kVerified);
}

TEST_CASE("a data plane that goes away while the device works hears nothing more") {
  DeviceBench bench;
  Gate gate;
  bench.device->before = [&] { gate.pass(); };
  bench.plane->decode({0, bench.fill(0).vectors}, bench.now);
  bench.plane.reset();
  gate.open();
  bench.open(1 << 20);
  bench.settle();
  CHECK(bench.outcomes.decoded.empty());
}

TEST_CASE("exchangeable blocks come from a stock made ahead, each with its own vector, once") {
  DeviceBench bench;
  bench.serve();
  bench.load(0);
  std::uint64_t ticket = 0;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 7; ++i) bench.plane->send_block(++ticket, bench.dense(0), bench.now);
    bench.settle();
  }
  std::set<std::string> vectors;
  for (std::uint64_t t = 1; t <= ticket; ++t) {
    bench.check_exchanged(t, 0);
    const auto& vector = bench.outcomes.exchanged.at(t);
    CHECK(vectors.emplace(vector.begin(), vector.end()).second);
  }
  CHECK(bench.coder->counts().encoded_by_devices >= ticket);
  // Ahead of demand, but not far.
  CHECK(bench.coder->counts().encoded_by_devices <= ticket + 16);
  CHECK(bench.spare->encoded.empty());
}

TEST_CASE("a block in stock is sent at once") {
  DeviceBench bench;
  bench.serve();
  bench.load(1);
  bench.plane->send_block(1, bench.dense(1), bench.now);
  bench.settle();
  bench.plane->send_block(2, bench.dense(1), bench.now);
  bench.check_exchanged(2, 1);  // before anything has settled
  bench.settle();
}

TEST_CASE("a block that must have its vector is made with it, whatever is in stock") {
  DeviceBench bench;
  bench.serve();
  bench.load(0);
  bench.plane->send_block(1, bench.dense(0), bench.now);
  bench.settle();
  const core::SendBlock exact = bench.dense(0, false);
  const auto wanted = bench.combination(0, exact.block.coefficients);
  bench.plane->send_block(2, exact, bench.now);
  bench.settle();
  const auto made = bench.outcomes.made.at(2).bytes();
  CHECK(std::vector<std::uint8_t>(made.begin(), made.end()) == wanted);
  CHECK_FALSE(bench.outcomes.exchanged.contains(2));
}

TEST_CASE("a generation that is not in memory is read first, then stocked") {
  DeviceBench bench;
  bench.serve();
  for (std::uint64_t ticket = 1; ticket <= 20; ++ticket) {
    bench.plane->send_block(ticket, bench.dense(1), bench.now);
    bench.settle();
    REQUIRE(bench.outcomes.made.at(ticket));
  }
  CHECK(bench.store->generations_read == 1);
  CHECK_FALSE(bench.outcomes.exchanged.contains(1));
  CHECK(bench.outcomes.exchanged.contains(20));
}

TEST_CASE("a generation that a device keeps is not read again, one that it gave up is") {
  DeviceBench bench;
  bench.serve();
  bench.load(0);
  bench.device->keeping = true;
  bench.plane->send_block(1, bench.dense(0), bench.now);
  bench.settle();
  const int read = bench.store->generations_read;
  bench.cache.erase(0, 0);
  for (std::uint64_t ticket = 2; ticket <= 30; ++ticket) {
    bench.plane->send_block(ticket, bench.dense(0), bench.now);
    bench.settle();
    bench.check_exchanged(ticket, 0);
  }
  CHECK(bench.store->generations_read == read);

  bench.device->kept.clear();
  for (std::uint64_t ticket = 31; ticket <= 60; ++ticket) {
    core::SendBlock send = bench.dense(0);
    const auto given = bench.combination(0, send.block.coefficients);
    bench.plane->send_block(ticket, std::move(send), bench.now);
    bench.settle();
    REQUIRE(bench.outcomes.made.contains(ticket));
    if (bench.outcomes.exchanged.contains(ticket)) {
      bench.check_exchanged(ticket, 0);
    } else {
      const auto made = bench.outcomes.made.at(ticket).bytes();
      CHECK(std::vector<std::uint8_t>(made.begin(), made.end()) == given);
    }
  }
  CHECK(bench.store->generations_read == read + 1);
}

TEST_CASE("a device that fails while a stock is filled leaves all blocks to the CPU") {
  DeviceBench bench;
  bench.serve();
  bench.load(0);
  bench.device->outcomes = {Code::kFailed};
  for (std::uint64_t ticket = 1; ticket <= 30; ++ticket) {
    core::SendBlock send = bench.dense(0);
    const auto given = bench.combination(0, send.block.coefficients);
    bench.plane->send_block(ticket, std::move(send), bench.now);
    bench.settle();
    if (bench.outcomes.exchanged.contains(ticket)) {
      bench.check_exchanged(ticket, 0);
    } else {
      const auto made = bench.outcomes.made.at(ticket).bytes();
      CHECK(std::vector<std::uint8_t>(made.begin(), made.end()) == given);
    }
  }
  CHECK(bench.dropped_devices.size() == 1);
  CHECK_FALSE(bench.outcomes.exchanged.contains(30));
}

TEST_CASE("stocks stay within their bytes: the one used longest ago goes") {
  DeviceBench bench({.stock_bytes = 12 * DataPlaneBench::kK});
  bench.serve();
  for (std::uint32_t g = 0; g < kGenerations; ++g) bench.load(g);
  std::uint64_t ticket = 0;
  for (int round = 0; round < 5; ++round) {
    for (std::uint32_t g = 0; g < kGenerations; ++g) {
      bench.plane->send_block(++ticket, bench.dense(g), bench.now);
      bench.settle();
      bench.check_exchanged(ticket, g);
    }
  }
  // Three stocks of six do not fit: some were made again.
  CHECK(bench.coder->counts().encoded_by_devices > 3 * 12);
}

TEST_CASE("a generation whose file changed is lost on the device too") {
  DeviceBench bench;
  bench.serve();
  {
    std::fstream file(bench.folder.path() + "/file",
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(10);
    file.put(static_cast<char>(bench.text[10] ^ 1));
  }
  bench.plane->send_block(1, bench.dense(0), bench.now);
  bench.settle();
  CHECK(bench.outcomes.lost == std::vector<std::uint32_t>{0});
  CHECK_FALSE(bench.outcomes.made.at(1));
  bench.load(1);  // lets the coder hear of it
  bench.plane->send_block(2, bench.dense(1), bench.now);
  bench.settle();
  bench.check_exchanged(2, 1);
  CHECK(bench.device->forgotten.size() == 1);
}

}  // namespace
}  // namespace firn::app
