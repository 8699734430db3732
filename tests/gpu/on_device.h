// What tests on a device share: the first device with a stream, memory between guards, and the
// CPU's answers. Everything CHECKs or REQUIREs its way: use it inside a test case only.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "codec/kernels.h"
#include "codec/random.h"
#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/stream.h"

namespace firn::cuda {

using Bytes = std::vector<std::uint8_t>;

inline void require(const Status& status) {
  INFO(status.detail);
  REQUIRE(status.ok());
}

inline Bytes random_bytes(std::size_t count, codec::CoefficientStream& random) {
  Bytes bytes(count);
  random.fill(bytes);
  return bytes;
}

// Memory on the device that begins `offset` bytes into an allocation and is followed by a guard.
// Both sides and the memory itself start as poison.
class Guarded {
 public:
  static constexpr std::uint8_t kPoison = 0xa5;

  Guarded(Stream& stream, std::size_t bytes, std::size_t offset = 0)
      : stream_(stream), bytes_(bytes), offset_(kGuard + offset) {
    require(memory_.allocate(stream.device(), bytes + offset_ + kGuard));
    require(stream.fill(memory_.data(), kPoison, memory_.size()));
  }
  Guarded(Stream& stream, const Bytes& content, std::size_t offset = 0)
      : Guarded(stream, content.size(), offset) {
    require(stream.copy_in(data(), content.data(), content.size()));
    require(stream.wait());
  }
  std::uint8_t* data() const { return memory_.data() + offset_; }

  // The content, once everything queued is done. Both guards must be as they were.
  Bytes read() {
    Bytes all(memory_.size());
    require(stream_.copy_out(all.data(), memory_.data(), all.size()));
    require(stream_.wait());
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(offset_);
    const auto end = begin + static_cast<std::ptrdiff_t>(bytes_);
    const auto poison = [](std::uint8_t byte) { return byte == kPoison; };
    CHECK(std::all_of(all.begin(), begin, poison));
    CHECK(std::all_of(end, all.end(), poison));
    return Bytes(begin, end);
  }

 private:
  static constexpr std::size_t kGuard = 1024;
  Stream& stream_;
  DeviceMemory memory_;
  std::size_t bytes_, offset_;
};

struct OnDevice {
  Device device;
  Stream stream;

  OnDevice() : device(devices().at(0)) { require(stream.open(device)); }
};

// out[g] = C[g] B[g] by the codec's kernels; rows stand at the pitches, all else in out stays.
inline void multiply_on_cpu(const Shape& shape, const Bytes& coefficients, const Bytes& source,
                            std::size_t source_pitch, Bytes& out, std::size_t out_pitch) {
  const std::size_t n = shape.generation_size, m = shape.rows;
  for (std::size_t g = 0; g < shape.generations; ++g) {
    std::vector<const std::uint8_t*> in;
    std::vector<std::uint8_t*> to;
    for (std::size_t j = 0; j < n; ++j) in.push_back(&source[(g * n + j) * source_pitch]);
    for (std::size_t r = 0; r < m; ++r) to.push_back(&out[(g * m + r) * out_pitch]);
    codec::kernels().combine_rows(to.data(), m, in.data(), n, &coefficients[g * m * n], n,
                                  shape.block_bytes);
  }
}

inline std::string describe(const Shape& shape) {
  return "generations=" + std::to_string(shape.generations) +
         " n=" + std::to_string(shape.generation_size) + " m=" + std::to_string(shape.rows) +
         " k=" + std::to_string(shape.block_bytes);
}

// The paths that the device has.
inline std::vector<Path> paths_of(const Device& device) {
  std::vector<Path> paths;
  for (const Path path : {Path::kTables, Path::kMma, Path::kWgmma, Path::kTower}) {
    if (has_path(device, path)) paths.push_back(path);
  }
  return paths;
}

// Byte-for-byte; says where the first difference is instead of printing both.
inline void check_equal(const Bytes& got, const Bytes& wanted) {
  REQUIRE(got.size() == wanted.size());
  const auto difference = std::mismatch(got.begin(), got.end(), wanted.begin());
  if (difference.first == got.end()) return;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != wanted[i];
  FAIL_CHECK("byte " << difference.first - got.begin() << " is " << int{*difference.first}
                     << ", not " << int{*difference.second} << "; " << wrong << " of " << got.size()
                     << " differ");
}

}  // namespace firn::cuda
