#include "cuda_kernels/host/device_backend.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "codec/check_sums.h"
#include "codec/executor.h"
#include "codec/span_basis.h"
#include "on_device.h"

namespace firn::cuda {
namespace {

using codec::BackendStatus;

// A generation with rows that have full rank, some of them source blocks, and work for it.
struct Coded {
  Coded(std::size_t size, std::size_t block_bytes, codec::CoefficientStream& random)
      : n(size), k(block_bytes), source(random_bytes(n * k, random)) {
    codec::SpanBasis basis(n);
    while (!basis.full()) {
      Bytes vector = random_bytes(n, random);
      if (basis.rank() % 5 == 0) {
        std::fill(vector.begin(), vector.end(), 0);
        vector[basis.rank()] = 1;
      }
      if (basis.insert(vector)) rows.push_back(std::move(vector));
    }
    payloads.assign(n, Bytes(k));
    out.assign(n * k, Guarded::kPoison);
    for (std::size_t r = 0; r < n; ++r) {
      payloads[r] = product(rows[r]);
      row_pointers.push_back(rows[r].data());
      payload_pointers.push_back(payloads[r].data());
    }
  }
  Bytes product(const Bytes& vector) const {
    Bytes made(k);
    std::vector<const std::uint8_t*> in;
    for (std::size_t j = 0; j < n; ++j) in.push_back(&source[j * k]);
    codec::kernels().combine(made.data(), in.data(), vector.data(), n, k);
    return made;
  }
  codec::GenerationWork work() { return {n, k, row_pointers, payload_pointers, out}; }

  std::size_t n, k;
  Bytes source, out;
  std::vector<Bytes> rows, payloads;
  std::vector<const std::uint8_t*> row_pointers, payload_pointers;
};

void check_encode(DeviceBackend& backend, const Coded& coded, std::uint64_t key, std::size_t rows,
                  codec::CoefficientStream& random) {
  Bytes vectors;
  std::vector<Bytes> wanted, made(rows, Bytes(coded.k, Guarded::kPoison));
  std::vector<std::uint8_t*> out;
  for (std::size_t r = 0; r < rows; ++r) {
    const Bytes vector = random_bytes(coded.n, random);
    vectors.insert(vectors.end(), vector.begin(), vector.end());
    wanted.push_back(coded.product(vector));
    out.push_back(made[r].data());
  }
  const BackendStatus status = backend.encode({key, coded.n, coded.k, coded.source, vectors, out});
  INFO(status.detail);
  REQUIRE(status.ok());
  CHECK(made == wanted);
}

struct CountSizeBytes {
  std::size_t count, n, k;
};

void check_decoding(const std::vector<CountSizeBytes>& shapes, std::uint64_t stream) {
  OnDevice on;
  codec::CoefficientStream random(8, stream);
  DeviceBackend backend(on.device, {.batch_bytes = 100'000, .work_bytes = 64 << 20});
  for (const CountSizeBytes& shape : shapes) {
    const std::size_t count = shape.count, n = shape.n, k = shape.k;
    INFO("n=", n, " k=", k);
    std::vector<Coded> coded;
    for (std::size_t g = 0; g < count; ++g) coded.emplace_back(n, k, random);
    if (count > 2) coded[1].rows[0] = coded[1].rows[1];
    std::vector<codec::GenerationWork> work;
    for (Coded& one : coded) work.push_back(one.work());
    const BackendStatus status = backend.decode(work);
    INFO(status.detail);
    REQUIRE(status.ok());
    for (std::size_t g = 0; g < count; ++g) {
      const bool whole = g != 1 || count <= 2;
      CHECK(work[g].decoded == whole);
      if (whole) CHECK(coded[g].out == coded[g].source);
    }
  }
}

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("a device decodes batches of generations of any shape, and says which lack rank") {
    check_decoding({{1, 1, 1}, {5, 16, 1000}, {3, 128, 777}, {1, 140, 300}}, 1);
  }

  TEST_CASE("a device decodes large generations") {
    check_decoding({{2, 200, 2048}, {1, 1024, 64}}, 3);
  }

  TEST_CASE("a device keeps generations it encodes, makes room for others, and forgets") {
    OnDevice on;
    codec::CoefficientStream random(8, 2);
    // Room for two of the three.
    DeviceBackend backend(on.device, {.work_bytes = 16 << 20, .resident_bytes = 100'000});
    std::vector<Coded> coded;
    for (int g = 0; g < 3; ++g) coded.emplace_back(40, 1000, random);
    backend.prepare(40, 1000);
    for (const std::size_t g : {0, 1, 0, 2, 1, 0, 2, 2}) {
      CAPTURE(g);
      check_encode(backend, coded[g], g, 1 + g * 40, random);
    }
    backend.forget(2);
    std::swap(coded[0], coded[2]);  // the key stands for other bytes now
    check_encode(backend, coded[2], 2, 3, random);
    const Coded large(300, 501, random);
    check_encode(backend, large, 7, 65, random);
  }

  TEST_CASE("a device makes check sums of the generations that it keeps, and of no others") {
    OnDevice on;
    if (!on.device.has_binary_mma()) return;
    codec::CoefficientStream random(8, 4);
    // Room for the two that are used last.
    DeviceBackend backend(on.device, {.work_bytes = 16 << 20, .resident_bytes = 100'000});
    const std::size_t n = 40, k = 1001, keys[] = {3, 1, 7, 2};
    std::vector<Coded> coded;
    for (std::size_t g = 0; g < 3; ++g) {
      coded.emplace_back(n, k, random);
      check_encode(backend, coded[g], keys[g], 1, random);
    }
    for (const std::size_t t : {4, 8, 16}) {
      std::vector<Bytes> material, sums;
      std::vector<codec::SumsWork> works;
      for (int g = 0; g < 4; ++g) {
        material.push_back(random_bytes(codec::CheckKey::material_bytes(k, t), random));
        sums.emplace_back(n * t, Guarded::kPoison);
      }
      for (int g = 0; g < 4; ++g) works.push_back({keys[g], n, k, t, material[g], sums[g]});
      const BackendStatus status = backend.make_sums(works);
      INFO(status.detail);
      REQUIRE(status.ok());
      for (std::size_t g = 0; g < 4; ++g) {
        CAPTURE(g);
        const bool kept = g == 1 || g == 2;
        CHECK(works[g].made == kept);
        Bytes wanted(n * t, Guarded::kPoison);
        if (kept) {
          std::vector<const std::uint8_t*> rows;
          for (std::size_t i = 0; i < n; ++i) rows.push_back(&coded[g].source[i * k]);
          const codec::CheckSums made(codec::CheckKey(k, t, material[g]), rows);
          wanted.assign(made.bytes().begin(), made.bytes().end());
        }
        CHECK(sums[g] == wanted);
      }
    }
  }

  TEST_CASE("a generation of more than 1024 blocks is not for a device") {
    OnDevice on;
    DeviceBackend backend(on.device, {});
    const std::size_t n = 1025;
    Bytes block(n), out(n);
    std::vector<const std::uint8_t*> rows(n, block.data());
    std::uint8_t* made = out.data();
    codec::GenerationWork work{n, 1, rows, rows, out};
    CHECK(backend.decode({&work, 1}).code == BackendStatus::Code::kUnsupported);
    CHECK(backend.encode({1, n, 1, block, block, {&made, 1}}).code ==
          BackendStatus::Code::kUnsupported);
  }
}

TEST_CASE("a device that is not there fails in words") {
  Device nowhere;
  nowhere.index = 9999;
  DeviceBackend backend(nowhere, {});
  Bytes one{1}, out{0};
  const std::uint8_t* row = one.data();
  codec::GenerationWork work{1, 1, {&row, 1}, {&row, 1}, out};
  const BackendStatus status = backend.decode({&work, 1});
  CHECK_FALSE(status.ok());
  CHECK_FALSE(status.detail.empty());
}

}  // namespace firn::cuda
