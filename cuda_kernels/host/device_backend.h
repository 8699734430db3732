// One NVIDIA device as a codec::Backend: what a peer asks for its coding (client/app).
//
//   decode: rows are gathered into pinned memory, go through HostCodec, and come back decoded
//   encode: source blocks stay on the device (the generations used last), so that a batch of coded
//           blocks costs its coefficients on the way in and its payloads on the way out
//   sums:   of generations that are there, for their key on the way in and their sums on the way
//   out
//
// A generation with n over 1024 is kUnsupported. One thread at a time; two threads of its own help
// to copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "codec/backend.h"
#include "codec/thread_pool.h"
#include "cuda_kernels/host/host_codec.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/stream.h"

namespace firn::cuda {

class DeviceBackend final : public codec::Backend {
 public:
  struct Options {
    // Payload of generations decoded at once (one is always taken). Pinned memory is taken for it
    // twice: as it comes and as it goes.
    std::size_t batch_bytes = std::size_t{64} << 20;
    std::size_t work_bytes = std::size_t{1} << 30;      // on the device, for decoding
    std::size_t resident_bytes = std::size_t{1} << 30;  // on the device, of source blocks kept
  };
  // Takes nothing yet; what the device lacks shows in the first call.
  DeviceBackend(const Device& device, const Options& options)
      : device_(device), options_(options) {}

  std::string name() const override { return device_.name; }
  // Makes the device, its memory and its kernels ready for this shape; a failure shows later.
  void prepare(std::size_t generation_size, std::size_t block_bytes) override;
  Status encode(const codec::EncodeWork& work) override;
  Status decode(std::span<codec::GenerationWork> generations) override;
  // kUnsupported on a device without binary mma.sync (launch_tags). Keys and sums are wiped where
  // they pass.
  Status make_sums(std::span<codec::SumsWork> works) override;
  bool keeps(std::uint64_t generation_key) const override {
    return by_key_.contains(generation_key);
  }
  std::size_t kept_bytes_max() const override { return options_.resident_bytes; }
  void forget(std::uint64_t generation_key) override;

 private:
  struct Resident {
    std::uint64_t key;
    DeviceMemory blocks;  // n * pitch
  };
  Status open();
  Status reserve(PinnedMemory& memory, std::size_t bytes);
  Status reserve(DeviceMemory& memory, std::size_t bytes);
  Status decode_batch(std::span<codec::GenerationWork> generations);
  Status encode_resident(const codec::EncodeWork& work);
  Status make_resident(const codec::EncodeWork& work, std::uint8_t*& blocks);
  Status hash_residents(std::span<codec::SumsWork* const> works);

  const Device device_;
  const Options options_;
  codec::ThreadPool copiers_{3};  // the caller is one of them
  bool opened_ = false;
  HostCodec codec_;
  Stream stream_;
  PinnedMemory vectors_, in_, out_, secrets_;
  DeviceMemory coefficients_, made_, scratch_, device_secrets_;
  std::list<Resident> residents_;  // used last first
  std::unordered_map<std::uint64_t, std::list<Resident>::iterator> by_key_;
  std::size_t resident_bytes_ = 0;
};

}  // namespace firn::cuda
