#include "codec/backend.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "codec/measured_cost.h"
#include "codec/shared_backend.h"
#include "codec/span_basis.h"
#include "codec/thread_pool.h"
#include "tests/codec/fake_device.h"
#include "tests/codec/generation.h"

namespace firn::codec {
namespace {

using Code = BackendStatus::Code;
using tests::FakeDevice;
using tests::pretended_time;

// Full-rank generations with work for them.
struct Batch {
  Batch(std::size_t count, CoefficientStream& random, std::size_t n = 6, std::size_t k = 40) {
    for (std::size_t g = 0; g < count; ++g) {
      Item& item = *items.emplace_back(std::make_unique<Item>(Generation(n, k, random)));
      SpanBasis basis(n);
      while (!basis.full()) {
        CodedBlock block = item.generation.dense(random);
        if (basis.insert(block.vector)) item.blocks.push_back(std::move(block));
      }
      for (const CodedBlock& block : item.blocks) {
        item.vectors.push_back(block.vector.data());
        item.payloads.push_back(block.payload.data());
      }
      item.out.assign(n * k, 0xcd);
      work.push_back({n, k, item.vectors, item.payloads, item.out});
    }
  }
  bool right() const {
    for (std::size_t g = 0; g < items.size(); ++g)
      if (!work[g].decoded || items[g]->out != items[g]->generation.source) return false;
    return true;
  }
  struct Item {
    explicit Item(Generation made) : generation(std::move(made)) {}
    Generation generation;
    std::vector<CodedBlock> blocks;
    std::vector<const std::uint8_t*> vectors, payloads;
    Bytes out;
  };
  std::vector<std::unique_ptr<Item>> items;
  std::vector<GenerationWork> work;
};

struct Shared {
  // The CPU takes one second for a generation or row; the device as told.
  Shared(SharedBackend::Policy policy, double device_fixed, double device_item) {
    std::vector<std::unique_ptr<Backend>> devices;
    auto first = std::make_unique<FakeDevice>(executor, device_fixed, device_item);
    device = first.get();
    devices.push_back(std::move(first));
    auto spare = std::make_unique<FakeDevice>(executor, 0, 1);
    cpu = spare.get();
    backend = std::make_unique<SharedBackend>(
        std::move(devices), std::move(spare), policy,
        [this](const std::string& name, const std::string& why) {
          dropped.push_back(name + ": " + why);
        },
        pretended_time());
  }
  bool decode(std::size_t count) {
    Batch batch(count, random);
    return backend->decode(batch.work).ok() && batch.right();
  }
  bool encode(std::size_t rows, std::uint64_t key = 1) {
    const Generation generation(6, 40, random);
    Bytes vectors;
    std::vector<Bytes> wanted, made(rows, Bytes(40));
    std::vector<std::uint8_t*> out;
    for (std::size_t r = 0; r < rows; ++r) {
      const CodedBlock block = generation.dense(random);
      vectors.insert(vectors.end(), block.vector.begin(), block.vector.end());
      wanted.push_back(block.payload);
      out.push_back(made[r].data());
    }
    return backend->encode({key, 6, 40, generation.source, vectors, out}).ok() && made == wanted;
  }
  CoefficientStream random{5, 0};
  SerialExecutor executor;
  FakeDevice* device = nullptr;  // the shared backend's; gone once it is dropped
  FakeDevice* cpu = nullptr;
  std::vector<std::string> dropped;
  std::unique_ptr<SharedBackend> backend;
};

TEST_CASE("the CPU's backend encodes and decodes, and says which vectors lack rank") {
  ThreadPool pool(2);
  CpuBackend cpu(pool, kernels());
  CoefficientStream random(1, 1);
  Batch batch(3, random);
  batch.items[1]->vectors[2] = batch.items[1]->vectors[0];
  CHECK(cpu.decode(batch.work).ok());
  CHECK(batch.work[0].decoded);
  CHECK_FALSE(batch.work[1].decoded);
  CHECK(batch.items[2]->out == batch.items[2]->generation.source);
}

TEST_CASE("devices alone do all the work under their policy") {
  Shared shared(SharedBackend::Policy::kDevices, 0, 5);
  for (const std::size_t count : {1, 4, 7}) CHECK(shared.decode(count));
  CHECK(shared.encode(9));
  CHECK(shared.device->decoded == std::vector<std::size_t>{1, 4, 7});
  CHECK(shared.device->encoded == std::vector<std::size_t>{9});
  CHECK(shared.cpu->decoded.empty());
  CHECK(shared.backend->counts().decoded_by_devices == 12);
}

TEST_CASE("what each of several devices took is counted, also after one was dropped") {
  SerialExecutor executor;
  CoefficientStream random(5, 1);
  std::vector<std::unique_ptr<Backend>> devices;
  auto faulty = std::make_unique<FakeDevice>(executor, 0, 1);
  FakeDevice* const first = faulty.get();
  devices.push_back(std::move(faulty));
  devices.push_back(std::make_unique<FakeDevice>(executor, 0, 1));
  SharedBackend backend(std::move(devices), std::make_unique<FakeDevice>(executor, 0, 1),
                        SharedBackend::Policy::kDevices, {}, pretended_time());
  Batch batch(6, random);
  CHECK(backend.decode(batch.work).ok());
  CHECK(batch.right());
  const auto& by_device = backend.counts().by_device;
  REQUIRE(by_device.size() == 2);
  CHECK(by_device[0].decoded > 0);
  CHECK(by_device[1].decoded > 0);
  CHECK(by_device[0].decoded + by_device[1].decoded == 6);
  const std::uint64_t before = by_device[0].decoded;
  first->outcomes = {FakeDevice::Code::kFailed};
  Batch again(6, random);
  CHECK(backend.decode(again.work).ok());
  CHECK(backend.counts().by_device[0].decoded == before);
  CHECK(backend.counts().by_device[1].decoded > 6 - before);
  CHECK(backend.counts().by_device[0].name == "fake");
}

TEST_CASE("CPU and device share a batch by their measured rates") {
  Shared shared(SharedBackend::Policy::kMeasured, 0, 1.0 / 3);  // three times the CPU's rate
  CHECK(shared.decode(2));                                      // both measured
  CHECK(shared.device->decoded == std::vector<std::size_t>{1});
  CHECK(shared.cpu->decoded == std::vector<std::size_t>{1});
  CHECK(shared.decode(8));
  CHECK(shared.device->decoded.back() == 6);
  CHECK(shared.cpu->decoded.back() == 2);
}

TEST_CASE("one generation alone goes where it is done first, many where the rate is") {
  Shared shared(SharedBackend::Policy::kMeasured, 10, 0.001);  // dear to start, cheap to go on
  CHECK(shared.decode(2));
  for (int i = 0; i < 5; ++i) CHECK(shared.decode(1));
  CHECK(shared.device->decoded.size() == 1);  // the CPU's five, at a second each, beat ten
  // Step by step it shows that many cost it hardly more than one.
  for (int i = 0; i < 6; ++i) CHECK(shared.decode(100));
  CHECK(shared.device->decoded.back() >= 88);
}

TEST_CASE("what was learnt serves a later run from its first batch") {
  Shared first(SharedBackend::Policy::kMeasured, 0, 1.0 / 3);
  CHECK(first.decode(2));
  CHECK(first.decode(8));
  CHECK(first.encode(5));
  const auto learnt = first.backend->learnt();
  CHECK_FALSE(learnt.empty());

  // Both are called "fake" here, so the first, the device, speaks for both: they halve the work.
  Shared second(SharedBackend::Policy::kMeasured, 0, 1.0 / 3);
  second.backend->recall(learnt);
  CHECK(second.backend->learnt() == learnt);
  CHECK(second.decode(8));
  CHECK(second.device->decoded == std::vector<std::size_t>{4});
  CHECK(second.cpu->decoded == std::vector<std::size_t>{4});
  CHECK(second.device->prepared == 1);

  Shared third(SharedBackend::Policy::kMeasured, 0, 1.0 / 3);
  third.cpu->called = "slow CPU";
  third.backend->recall(learnt);
  CHECK(third.decode(1));  // the device is known to be done first; the other is still measured
  CHECK(third.cpu->decoded == std::vector<std::size_t>{1});
  CHECK(third.decode(8));
  CHECK(third.device->decoded == std::vector<std::size_t>{6});
}

TEST_CASE("who was slow once is tried again after a while") {
  Shared shared(SharedBackend::Policy::kMeasured, 3, 0);
  CHECK(shared.decode(2));
  std::size_t tries = 0;
  while (shared.device->decoded.size() < 2 && tries < 1000) {
    CHECK(shared.decode(1));
    ++tries;
  }
  CHECK(tries > 10);
  CHECK(tries < 1000);
}

TEST_CASE("a device that fails in a batch is dropped, told once, and nothing is lost") {
  for (const Code code : {Code::kFailed, Code::kOutOfMemory}) {
    Shared shared(SharedBackend::Policy::kDevices, 0, 1);
    CHECK(shared.decode(3));
    shared.device->outcomes.assign(3, code);  // 3, 1 (of a half): with no memory for one either
    CHECK(shared.decode(3));
    CHECK(shared.dropped == std::vector<std::string>{"fake: told to"});
    CHECK(shared.decode(2));
    CHECK(shared.encode(2));
    CHECK(shared.dropped.size() == 1);
    CHECK(shared.cpu->decoded == std::vector<std::size_t>{3, 2});
    CHECK_FALSE(shared.backend->has_devices());
  }
}

TEST_CASE("a device short of memory gets smaller batches and stays") {
  Shared shared(SharedBackend::Policy::kDevices, 0, 1);
  shared.device->generations_max = 2;
  CHECK(shared.decode(7));
  CHECK(shared.dropped.empty());
  CHECK(shared.cpu->decoded.empty());
  std::size_t all = 0;
  for (const std::size_t count : shared.device->decoded) all += count;
  CHECK(all == 7);
}

TEST_CASE("a device that fails while encoding leaves the work to the CPU") {
  Shared shared(SharedBackend::Policy::kDevices, 0, 1);
  shared.device->outcomes = {Code::kFailed};
  CHECK(shared.encode(4));
  CHECK(shared.cpu->encoded == std::vector<std::size_t>{4});
  CHECK(shared.dropped.size() == 1);
}

TEST_CASE("a shape that a device cannot take goes to the CPU, other shapes do not") {
  Shared shared(SharedBackend::Policy::kDevices, 0, 1);
  shared.device->outcomes = {Code::kUnsupported};
  CHECK(shared.decode(2));
  CHECK(shared.decode(2));
  CHECK(shared.dropped.empty());
  CHECK(shared.cpu->decoded == std::vector<std::size_t>{2, 2});
  Batch other(2, shared.random, 5, 40);
  CHECK(shared.backend->decode(other.work).ok());
  CHECK(other.right());
  CHECK(shared.device->decoded == std::vector<std::size_t>{2});
}

TEST_CASE("encoding goes to whoever is measured to be faster") {
  for (const bool device_is_faster : {false, true}) {
    Shared shared(SharedBackend::Policy::kMeasured, 0, device_is_faster ? 0.1 : 10);
    for (int i = 0; i < 6; ++i) CHECK(shared.encode(8));
    CHECK(shared.device->encoded.size() == (device_is_faster ? 5 : 1));
  }
}

TEST_CASE("devices are told which generations to forget") {
  Shared shared(SharedBackend::Policy::kDevices, 0, 1);
  shared.backend->forget(77);
  CHECK(shared.device->forgotten == std::vector<std::uint64_t>{77});
}

TEST_CASE("a measured cost is looked up between counts, and in proportion above them") {
  MeasuredCost cost;
  CHECK_FALSE(cost.known());
  CHECK(cost.estimate(3) == 0);
  cost.add(2, 10);
  CHECK(cost.estimate(1) == 10);
  CHECK(cost.estimate(2) == 10);
  CHECK(cost.estimate(4) == 20);
  cost.add(10, 18);
  CHECK(cost.estimate(6) == doctest::Approx(14));
  CHECK(cost.estimate(20) == doctest::Approx(36));
  for (int i = 0; i < 50; ++i) cost.add(10, 50);
  CHECK(cost.estimate(10) == doctest::Approx(50));
}

}  // namespace
}  // namespace firn::codec
