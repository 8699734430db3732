#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/stopwatch.h"

#include <doctest/doctest.h>

#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/host/host_codec.h"
#include "on_device.h"

namespace firn::cuda {

TEST_CASE("a machine without a usable device says why, another says nothing") {
  CHECK(devices().empty() == !no_device_reason().empty());
}

TEST_CASE("without a device every operation says so and nothing breaks") {
  if (!devices().empty()) return;
  const Device none;
  Stream stream;
  DeviceMemory memory;
  PinnedMemory pinned;
  HostCodec codec;
  Stopwatch watch;
  CHECK_FALSE(stream.open(none).ok());
  CHECK_FALSE(memory.allocate(none, 1 << 20).ok());
  CHECK_FALSE(pinned.allocate(none, 1 << 20).ok());
  CHECK_FALSE(codec.open(none, 1 << 20).ok());
  CHECK_FALSE(watch.open(none).ok());
  CHECK(memory.data() == nullptr);
  CHECK(pinned.data() == nullptr);
}

TEST_CASE("the fast pitch is the next multiple of sixteen") {
  CHECK(fast_pitch(1) == 16);
  CHECK(fast_pitch(16) == 16);
  CHECK(fast_pitch(17) == 32);
  CHECK(fast_pitch(16384) == 16384);
}

TEST_SUITE("device") {
  TEST_CASE("memory that cannot be had is reported, and the device works on") {
    OnDevice on;
    DeviceMemory memory;
    const Status status = memory.allocate(on.device, on.device.memory_bytes * 2);
    CHECK(status.code == Code::kOutOfMemory);
    CHECK_FALSE(status.detail.empty());
    CHECK(memory.data() == nullptr);
    require(memory.allocate(on.device, 1 << 20));
    require(on.stream.fill(memory.data(), 1, memory.size()));
    require(on.stream.wait());
  }

  TEST_CASE("rows are copied in and out at their pitches") {
    OnDevice on;
    codec::CoefficientStream random(1, 1);
    const Bytes content = random_bytes(7 * 33, random);
    Guarded memory(on.stream, 7 * 48);
    require(on.stream.copy_rows_in(memory.data(), 48, content.data(), 33, 33, 7));
    Bytes back(7 * 33);
    require(on.stream.copy_rows_out(back.data(), 33, memory.data(), 48, 33, 7));
    const Bytes padded = memory.read();
    CHECK(back == content);
    CHECK(padded[33] == Guarded::kPoison);
    CHECK(padded[48] == content[33]);
  }
}

}  // namespace firn::cuda
