// The data plane with a device that is only pretended, and that fails as told.
#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>

#include "client/checks/set_key.h"
#include "codec/check_sums.h"
#include "codec/encode.h"
#include "tests/app/coding/data_plane_fixture.h"
#include "tests/codec/fake_device.h"

namespace firn::app {
namespace {

using tests::DataPlaneFixture;
using tests::FakeDevice;
using tests::kN;
using Code = codec::BackendStatus::Code;

constexpr std::uint32_t kGenerations = DataPlaneFixture::kGenerations;

// Holds a thread at its call until it is opened.
class DeviceGate {
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

struct DeviceFixture : DataPlaneFixture {
  explicit DeviceFixture(const BatchCoder::Options& options = {},
                         std::size_t row_bytes_max = 1 << 20)
      : DataPlaneFixture(row_bytes_max) {
    auto first = std::make_unique<FakeDevice>(executor, 0, 0);
    auto second = std::make_unique<FakeDevice>(executor, 0, 0);
    device = first.get();
    spare = second.get();
    use_device(std::move(first), std::move(second), options);
    open(row_bytes_max);
  }
  // Ends the coder before the executor and what tests put into the device.
  ~DeviceFixture() {
    plane.reset();
    coder.reset();
  }
  void decode_all() {
    for (std::uint32_t g = 0; g < kGenerations; ++g) plane->decode({g, fill(g)}, now);
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
  codec::SerialExecutor executor;
  FakeDevice* device;  // the coder's; gone once it is dropped
  FakeDevice* spare;
};

TEST_CASE("generations are decoded on the device, checked and written") {
  DeviceFixture fixture;
  fixture.decode_all();
  fixture.check_all_verified();
  CHECK(fixture.coder->counts().decoded_by_devices == kGenerations);
  CHECK(fixture.spare->decoded.empty());
  CHECK(fixture.store->rows_written == 0);
}

TEST_CASE("what is ready while the device is busy goes into one batch") {
  DeviceFixture fixture({.batch_bytes = 1});  // so that the first one waits for no other
  DeviceGate gate;
  fixture.device->before = [&] { gate.pass(); };
  fixture.plane->decode({0, fixture.fill(0)}, fixture.now);
  CHECK(fixture.coder->task_count() == 1);
  fixture.plane->decode({1, fixture.fill(1)}, fixture.now);
  fixture.plane->decode({2, fixture.fill(2)}, fixture.now);
  gate.open();
  fixture.settle();
  fixture.check_all_verified();
  CHECK(fixture.device->decoded == std::vector<std::size_t>{1, 1, 1});  // one byte: one at a time

  DeviceFixture together;
  DeviceGate second;
  together.device->before = [&] { second.pass(); };
  for (std::uint32_t g = 0; g < kGenerations; ++g)
    together.plane->decode({g, together.fill(g)}, together.now);
  second.open();
  together.settle();
  together.check_all_verified();
  CHECK(together.coder->counts().decoded_by_devices == kGenerations);
}

TEST_CASE("source blocks alone are put together without the device") {
  DeviceFixture fixture;
  std::vector<core::Vector> vectors;
  for (std::uint32_t slot = 0; slot < kN; ++slot) {
    core::StoreRow row = fixture.row(1, slot, 1);
    const auto unit = codec::unit_vector(kN, kN - 1 - slot);
    row.vector = std::make_shared<const std::vector<std::uint8_t>>(unit);
    row.payload = proto::Payload::copy_of(fixture.combination(1, unit));
    vectors.push_back(row.vector);
    fixture.plane->store_row(row, fixture.now);
  }
  fixture.plane->decode({1, vectors}, fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.decoded.at(1) == core::DecodeOutcome::kVerified);
  CHECK(fixture.device->decoded.empty());
}

TEST_CASE("a device that fails in the middle of a batch costs nothing but itself") {
  for (const Code code : {Code::kFailed, Code::kOutOfMemory}) {
    DeviceFixture fixture;
    fixture.device->outcomes.assign(8, code);
    fixture.decode_all();
    fixture.check_all_verified();
    CHECK(fixture.dropped_devices == std::vector<std::string>{"fake: told to"});
    CHECK_FALSE(fixture.coder->useful());
    CHECK(fixture.coder->counts().decoded_by_devices == 0);
  }
}

TEST_CASE("a device short of memory gets fewer at a time") {
  DeviceFixture fixture;
  fixture.device->generations_max = 1;
  fixture.decode_all();
  fixture.check_all_verified();
  CHECK(fixture.dropped_devices.empty());
  CHECK(fixture.coder->counts().decoded_by_devices == kGenerations);
}

TEST_CASE("a false row is found on the device's results too") {
  DeviceFixture fixture;
  const auto polluted = fixture.fill(0, {3});
  fixture.plane->decode({0, polluted}, fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.decoded.at(0) == core::DecodeOutcome::kCorrupt);
}

TEST_CASE("a device whose bytes are false is found out, and no peer is blamed for them") {
  DeviceFixture fixture;
  fixture.device->lying = true;
  fixture.decode_all();
  CHECK_FALSE(fixture.coder->useful());
  CHECK(fixture.outcomes.warnings == 1);
  fixture.check_all_verified();
}

TEST_CASE("rows that were evicted are read back before they go to the device") {
  DeviceFixture fixture({}, 3 * DataPlaneFixture::kK);
  const auto rows = fixture.fill(0);
  fixture.pass(kSpoolDelayFew);
  fixture.plane->decode({0, rows}, fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.decoded.at(0) == core::DecodeOutcome::kVerified);
  CHECK(fixture.coder->counts().decoded_by_devices == 1);
  CHECK(fixture.store->rows_read >= static_cast<int>(kN) - 3);
}

TEST_CASE("rows that are gone, or that lack rank, fail the decode and nothing else") {
  DeviceFixture fixture;
  core::Decode gone{0, {}};
  for (std::uint32_t slot = 0; slot < kN; ++slot)
    gone.vectors.push_back(fixture.row(0, slot, 1).vector);
  fixture.plane->decode(gone, fixture.now);
  auto twice = fixture.fill(1);
  twice[1] = twice[0];
  fixture.plane->decode({1, twice}, fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.decoded.at(0) == core::DecodeOutcome::kFailed);
  CHECK(fixture.outcomes.decoded.at(1) == core::DecodeOutcome::kFailed);
  CHECK(fixture.dropped_devices.empty());
}

TEST_CASE("a disk that is full keeps what the device has decoded") {
  DeviceFixture fixture;
  const auto rows = fixture.fill(2);
  fixture.store->write_failures = 1;
  fixture.plane->decode({2, rows}, fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.paused == 1);
  CHECK(fixture.outcomes.decoded.empty());
  fixture.pass(DiskQueue::kRetryInterval);
  CHECK(fixture.outcomes.decoded.at(2) == core::DecodeOutcome::kVerified);
  CHECK(fixture.coder->counts().decoded_by_devices == 1);
}

TEST_CASE("closing waits for what the device is decoding") {
  DeviceFixture fixture;
  DeviceGate gate;
  fixture.device->before = [&] { gate.pass(); };
  fixture.plane->decode({0, fixture.fill(0)}, fixture.now);
  bool closed = false;
  fixture.plane->close(fixture.now, [&] { closed = true; });
  CHECK_FALSE(closed);
  gate.open();
  fixture.settle();
  CHECK(closed);
  CHECK(fixture.outcomes.decoded.at(0) == core::DecodeOutcome::kVerified);
}

TEST_CASE("a data plane that goes away while the device works hears nothing more") {
  DeviceFixture fixture;
  DeviceGate gate;
  fixture.device->before = [&] { gate.pass(); };
  fixture.plane->decode({0, fixture.fill(0)}, fixture.now);
  fixture.plane.reset();
  gate.open();
  fixture.open(1 << 20);
  fixture.settle();
  CHECK(fixture.outcomes.decoded.empty());
}

TEST_CASE("exchangeable blocks come from a stock made ahead, each with its own vector, once") {
  DeviceFixture fixture;
  fixture.serve();
  fixture.load(0);
  std::uint64_t ticket = 0;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 7; ++i) fixture.plane->send_block(++ticket, fixture.dense(0), fixture.now);
    fixture.settle();
  }
  std::set<std::string> vectors;
  for (std::uint64_t t = 1; t <= ticket; ++t) {
    fixture.check_exchanged(t, 0);
    const auto& vector = fixture.outcomes.exchanged.at(t);
    CHECK(vectors.emplace(vector.begin(), vector.end()).second);
  }
  CHECK(fixture.coder->counts().encoded_by_devices >= ticket);
  // Ahead of demand, but not far.
  CHECK(fixture.coder->counts().encoded_by_devices <= ticket + 16);
  CHECK(fixture.spare->encoded.empty());
}

TEST_CASE("a block in stock is sent at once") {
  DeviceFixture fixture;
  fixture.serve();
  fixture.load(1);
  fixture.plane->send_block(1, fixture.dense(1), fixture.now);
  fixture.settle();
  fixture.plane->send_block(2, fixture.dense(1), fixture.now);
  fixture.check_exchanged(2, 1);  // before anything has settled
  fixture.settle();
}

TEST_CASE("a block that must have its vector is made with it, whatever is in stock") {
  DeviceFixture fixture;
  fixture.serve();
  fixture.load(0);
  fixture.plane->send_block(1, fixture.dense(0), fixture.now);
  fixture.settle();
  const core::SendBlock exact = fixture.dense(0, false);
  const auto wanted = fixture.combination(0, exact.block.coefficients);
  fixture.plane->send_block(2, exact, fixture.now);
  fixture.settle();
  const auto made = fixture.outcomes.made.at(2).bytes();
  CHECK(std::vector<std::uint8_t>(made.begin(), made.end()) == wanted);
  CHECK_FALSE(fixture.outcomes.exchanged.contains(2));
}

TEST_CASE("a generation that is not in memory is read first, then stocked") {
  DeviceFixture fixture;
  fixture.serve();
  for (std::uint64_t ticket = 1; ticket <= 20; ++ticket) {
    fixture.plane->send_block(ticket, fixture.dense(1), fixture.now);
    fixture.settle();
    REQUIRE(fixture.outcomes.made.at(ticket));
  }
  CHECK(fixture.store->generations_read == 1);
  CHECK_FALSE(fixture.outcomes.exchanged.contains(1));
  CHECK(fixture.outcomes.exchanged.contains(20));
}

TEST_CASE("a generation that a device keeps is not read again, one that it gave up is") {
  DeviceFixture fixture;
  fixture.serve();
  fixture.load(0);
  fixture.device->keeping = true;
  fixture.plane->send_block(1, fixture.dense(0), fixture.now);
  fixture.settle();
  const int read = fixture.store->generations_read;
  fixture.cache.erase(0, 0);
  for (std::uint64_t ticket = 2; ticket <= 30; ++ticket) {
    fixture.plane->send_block(ticket, fixture.dense(0), fixture.now);
    fixture.settle();
    fixture.check_exchanged(ticket, 0);
  }
  CHECK(fixture.store->generations_read == read);

  fixture.device->kept.clear();
  for (std::uint64_t ticket = 31; ticket <= 60; ++ticket) {
    core::SendBlock send = fixture.dense(0);
    const auto given = fixture.combination(0, send.block.coefficients);
    fixture.plane->send_block(ticket, std::move(send), fixture.now);
    fixture.settle();
    REQUIRE(fixture.outcomes.made.contains(ticket));
    if (fixture.outcomes.exchanged.contains(ticket)) {
      fixture.check_exchanged(ticket, 0);
    } else {
      const auto made = fixture.outcomes.made.at(ticket).bytes();
      CHECK(std::vector<std::uint8_t>(made.begin(), made.end()) == given);
    }
  }
  CHECK(fixture.store->generations_read == read + 1);
}

TEST_CASE("a device that fails while a stock is filled leaves all blocks to the CPU") {
  DeviceFixture fixture;
  fixture.serve();
  fixture.load(0);
  fixture.device->outcomes = {Code::kFailed};
  for (std::uint64_t ticket = 1; ticket <= 30; ++ticket) {
    core::SendBlock send = fixture.dense(0);
    const auto given = fixture.combination(0, send.block.coefficients);
    fixture.plane->send_block(ticket, std::move(send), fixture.now);
    fixture.settle();
    if (fixture.outcomes.exchanged.contains(ticket)) {
      fixture.check_exchanged(ticket, 0);
    } else {
      const auto made = fixture.outcomes.made.at(ticket).bytes();
      CHECK(std::vector<std::uint8_t>(made.begin(), made.end()) == given);
    }
  }
  CHECK(fixture.dropped_devices.size() == 1);
  CHECK_FALSE(fixture.outcomes.exchanged.contains(30));
}

TEST_CASE("blocks that are asked for while their generation is read come from a stock") {
  DeviceFixture fixture;
  fixture.serve();
  fixture.plane->send_block(1, fixture.dense(1), fixture.now);
  fixture.plane->flush();  // it is being read
  for (std::uint64_t ticket = 2; ticket <= 20; ++ticket)
    fixture.plane->send_block(ticket, fixture.dense(1), fixture.now);
  fixture.plane->send_block(21, fixture.dense(1, false), fixture.now);
  fixture.settle();
  CHECK(fixture.store->generations_read == 1);
  for (std::uint64_t ticket = 2; ticket <= 20; ++ticket) fixture.check_exchanged(ticket, 1);
  CHECK(fixture.outcomes.made.contains(21));
  CHECK_FALSE(fixture.outcomes.exchanged.contains(21));
}

TEST_CASE("stocks without any room give the blocks that are asked for") {
  DeviceFixture fixture({.stock_bytes = DataPlaneFixture::kK / 2});
  fixture.serve();
  for (std::uint32_t g = 0; g < kGenerations - 1; ++g) fixture.load(g);
  std::uint64_t ticket = 0;
  for (int round = 0; round < 5; ++round) {
    for (std::uint32_t g = 0; g < kGenerations - 1; ++g) {
      fixture.plane->send_block(++ticket, fixture.dense(g), fixture.now);
      fixture.settle();
      fixture.check_exchanged(ticket, g);
    }
  }
  CHECK(fixture.coder->counts().encoded_by_devices == ticket);
}

TEST_CASE("generations that a device keeps are not read ahead once more") {
  DeviceFixture fixture;
  fixture.serve();
  fixture.plane->serve_everything();
  fixture.device->keeping = true;
  std::uint64_t ticket = 0;
  const auto pass = [&] {
    for (std::uint32_t g = 0; g < kGenerations - 1; ++g) {
      for (int i = 0; i < 4; ++i) {
        fixture.plane->send_block(++ticket, fixture.dense(g), fixture.now);
        fixture.settle();
      }
    }
  };
  pass();
  const int read = fixture.store->generations_read;
  for (std::uint32_t g = 0; g < kGenerations; ++g) fixture.cache.erase(0, g);
  for (int again = 0; again < 3; ++again) pass();
  CHECK(fixture.store->generations_read <= read + 1);  // the last one never had a stock
}

// A source whose device keeps generation 0, which no other memory has.
struct Keeping : DeviceFixture {
  Keeping() {
    serve();
    device->keeping = true;
    load(0);
    plane->send_block(1, dense(0), now);
    settle();
    REQUIRE(device->kept.size() == 1);
    cache.erase(0, 0);
    read = store->generations_read;
  }
  proto::CheckReply check(std::uint32_t g, const std::vector<std::uint8_t>& key = {}) {
    plane->make_check({1, g, 8, {key.begin(), key.end()}});
    settle();
    return outcomes.checks.at(g);
  }
  // As the definition has them, under the key that was given out.
  std::vector<std::uint8_t> sums(std::uint32_t g, const std::vector<std::uint8_t>& key,
                                 std::size_t tag_bytes) {
    const checks::SetKey set_key{std::span(key).first<32>()};
    std::vector<const std::uint8_t*> blocks;
    for (std::uint32_t i = 0; i < blocks_in(g); ++i)
      blocks.push_back(reinterpret_cast<const std::uint8_t*>(padded.data()) + (g * kN + i) * kK);
    const codec::CheckSums made(set_key.generation_key(g, kK, tag_bytes), blocks);
    return {made.bytes().begin(), made.bytes().end()};
  }
  int read = 0;
};

TEST_CASE("check sums of what a device keeps are made there, of all else by the workers") {
  Keeping on;
  const proto::CheckReply kept = on.check(0);
  CHECK(kept.generation == 0);
  CHECK(kept.sums == on.sums(0, kept.key, 8));
  CHECK(on.device->summed == 1);
  CHECK(on.store->generations_read == on.read);
  CHECK(on.check(0, kept.key).sums == kept.sums);  // the same key once more
  CHECK(on.device->summed == 2);
  const proto::CheckReply other = on.check(1);
  CHECK(other.sums == on.sums(1, other.key, 8));
  CHECK(on.device->summed == 2);
  CHECK(on.store->generations_read == on.read + 1);
}

TEST_CASE("sums that a device has not got after all, or fails to make, are made by the workers") {
  for (const Code code : {Code::kOk, Code::kUnsupported, Code::kOutOfMemory, Code::kFailed}) {
    CAPTURE(static_cast<int>(code));
    Keeping on;
    if (code == Code::kOk) {
      on.device->kept.clear();
    } else {
      on.device->outcomes = {code};
    }
    const proto::CheckReply reply = on.check(0);
    CHECK(reply.sums == on.sums(0, reply.key, 8));
    CHECK(on.store->generations_read == on.read + 1);
    CHECK(on.dropped_devices.size() == (code == Code::kFailed ? 1 : 0));
  }
}

TEST_CASE("a generation whose file changed is lost on the device too") {
  DeviceFixture fixture;
  fixture.serve();
  {
    std::fstream file(fixture.folder.path() + "/file",
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(10);
    file.put(static_cast<char>(fixture.text[10] ^ 1));
  }
  fixture.plane->send_block(1, fixture.dense(0), fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.lost == std::vector<std::uint32_t>{0});
  CHECK_FALSE(fixture.outcomes.made.at(1));
  fixture.load(1);  // lets the coder hear of it
  fixture.plane->send_block(2, fixture.dense(1), fixture.now);
  fixture.settle();
  fixture.check_exchanged(2, 1);
  CHECK(fixture.device->forgotten.size() == 1);
}

}  // namespace
}  // namespace firn::app
