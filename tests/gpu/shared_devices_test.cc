// Batches dealt over several devices and the CPU. On a host with one device it stands there twice,
// with streams and memory of its own each time.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "codec/encode.h"
#include "codec/shared_backend.h"
#include "codec/span_basis.h"
#include "codec/thread_pool.h"
#include "cuda_kernels/host/device_backend.h"
#include "on_device.h"

namespace firn::cuda {
namespace {

// Passes everything on, and counts.
class Counted final : public codec::Backend {
 public:
  explicit Counted(std::unique_ptr<codec::Backend> backend) : backend_(std::move(backend)) {}
  std::string name() const override { return backend_->name(); }
  void prepare(std::size_t n, std::size_t k) override { backend_->prepare(n, k); }
  codec::BackendStatus encode(const codec::EncodeWork& work) override {
    rows += work.out.size();
    return backend_->encode(work);
  }
  codec::BackendStatus decode(std::span<codec::GenerationWork> work) override {
    generations += work.size();
    return backend_->decode(work);
  }
  bool keeps(std::uint64_t key) const override { return backend_->keeps(key); }
  void forget(std::uint64_t key) override { backend_->forget(key); }

  std::size_t generations = 0, rows = 0;

 private:
  std::unique_ptr<codec::Backend> backend_;
};

struct Shared {
  explicit Shared(codec::SharedBackend::Policy policy) {
    std::vector<Device> all = devices();
    if (all.size() == 1) all.push_back(all[0]);
    std::vector<std::unique_ptr<codec::Backend>> backends;
    for (const Device& device : all) {
      backends.push_back(counted(std::make_unique<DeviceBackend>(
          device, DeviceBackend::Options{.batch_bytes = 4 << 20, .work_bytes = 64 << 20})));
    }
    auto spare = counted(std::make_unique<codec::CpuBackend>(pool, codec::kernels()));
    cpu = spare.get();
    members.pop_back();
    backend = std::make_unique<codec::SharedBackend>(
        std::move(backends), std::move(spare), policy,
        [](const std::string&, const std::string& why) { FAIL_CHECK("dropped: " << why); });
  }
  std::unique_ptr<Counted> counted(std::unique_ptr<codec::Backend> made) {
    auto one = std::make_unique<Counted>(std::move(made));
    members.push_back(one.get());
    return one;
  }
  codec::ThreadPool pool{2};
  std::vector<Counted*> members;  // the devices
  Counted* cpu = nullptr;
  std::unique_ptr<codec::SharedBackend> backend;
};

struct Generation {
  Generation(std::size_t n, std::size_t k, codec::CoefficientStream& random)
      : source(random_bytes(n * k, random)), out(n * k, Guarded::kPoison) {
    codec::SpanBasis basis(n);
    while (!basis.full()) {
      Bytes vector = codec::random_vector(n, random);
      if (!basis.insert(vector)) continue;
      payloads.push_back(product(vector, n, k));
      vectors.push_back(std::move(vector));
    }
    for (std::size_t r = 0; r < n; ++r) {
      vector_of.push_back(vectors[r].data());
      payload_of.push_back(payloads[r].data());
    }
  }
  Bytes product(const Bytes& vector, std::size_t n, std::size_t k) const {
    Bytes made(k);
    std::vector<const std::uint8_t*> in;
    for (std::size_t j = 0; j < n; ++j) in.push_back(&source[j * k]);
    codec::kernels().combine(made.data(), in.data(), vector.data(), n, k);
    return made;
  }
  Bytes source, out;
  std::vector<Bytes> vectors, payloads;
  std::vector<const std::uint8_t*> vector_of, payload_of;
};

// Three batches of decoding and three of coded blocks, every byte compared.
void check_batches(Shared& shared, std::size_t n, std::size_t k, std::size_t count) {
  INFO("n=", n, " k=", k);
  codec::CoefficientStream random(21, n);
  std::vector<Generation> all;
  for (std::size_t g = 0; g < count; ++g) all.emplace_back(n, k, random);
  for (int batch = 0; batch < 3; ++batch) {
    std::vector<codec::GenerationWork> work;
    for (Generation& one : all) {
      std::fill(one.out.begin(), one.out.end(), Guarded::kPoison);
      work.push_back({n, k, one.vector_of, one.payload_of, one.out});
    }
    const auto status = shared.backend->decode(work);
    INFO(status.detail);
    REQUIRE(status.ok());
    for (std::size_t g = 0; g < count; ++g) {
      CHECK(work[g].decoded);
      CHECK(all[g].out == all[g].source);
    }
    for (std::size_t g = 0; g < count; ++g) {
      constexpr std::size_t kRows = 9;
      Bytes vectors;
      std::vector<Bytes> made(kRows, Bytes(k, Guarded::kPoison)), wanted;
      std::vector<std::uint8_t*> out;
      for (Bytes& row : made) {
        const Bytes vector = codec::random_vector(n, random);
        vectors.insert(vectors.end(), vector.begin(), vector.end());
        wanted.push_back(all[g].product(vector, n, k));
        out.push_back(row.data());
      }
      REQUIRE(shared.backend->encode({1000 * n + g, n, k, all[g].source, vectors, out}).ok());
      CHECK(made == wanted);
    }
  }
}

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("generations and blocks are dealt over all devices") {
    const OnDevice on;
    Shared shared(codec::SharedBackend::Policy::kDevices);
    check_batches(shared, 40, 700, 12);
    check_batches(shared, 150, 300, 5);
    for (const Counted* member : shared.members) {
      CHECK(member->generations > 0);
      CHECK(member->rows > 0);
    }
    CHECK(shared.cpu->generations == 0);
    CHECK(shared.cpu->rows == 0);
    const auto& counts = shared.backend->counts();
    CHECK(counts.decoded_by_devices == 3 * 17);
    CHECK(counts.encoded_by_devices == 3 * 17 * 9);
    std::uint64_t decoded = 0;
    for (const auto& device : counts.by_device) {
      CHECK(device.decoded > 0);
      CHECK(device.encoded > 0);
      decoded += device.decoded;
    }
    CHECK(decoded == 3 * 17);
  }

  TEST_CASE("devices and the CPU share a batch, and each learns what it costs") {
    const OnDevice on;
    Shared shared(codec::SharedBackend::Policy::kMeasured);
    check_batches(shared, 64, 500, 16);
    for (const Counted* member : shared.members) CHECK(member->generations > 0);
    CHECK(shared.cpu->generations > 0);
    const auto& counts = shared.backend->counts();
    CHECK(counts.decoded_by_devices + counts.decoded_by_cpu == 3 * 16);
    CHECK(counts.encoded_by_devices + counts.encoded_by_cpu == 3 * 16 * 9);
    CHECK_FALSE(shared.backend->learnt().empty());
  }
}

}  // namespace firn::cuda
