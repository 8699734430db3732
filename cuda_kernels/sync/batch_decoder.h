// Many frames at once by the best that this machine has: a device, or the CPU's threads. A device
// that fails, or has no memory, is dropped, and its frames are decoded by the CPU. One thread at a
// time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codec/executor.h"
#include "codec/sync/map_decoder.h"
#include "cuda_kernels/sync/device_decoder.h"

namespace firn::cuda::sync {

class BatchDecoder {
 public:
  // Uses the first of `devices` (cuda_kernels/runtime/device.h) if there is one. `executor` runs
  // the CPU's part and must outlive this object. Channel and limits are valid.
  BatchDecoder(const codec::sync::TvbCode& code, const codec::sync::Channel& channel,
               const codec::sync::StateLimits& limits, const DeviceDecoderOptions& options,
               const std::vector<Device>& devices, codec::Executor& executor);

  // As MapDecoder::decode for each problem; as many solutions as problems.
  void decode(std::span<const codec::sync::FrameProblem> problems,
              std::span<codec::sync::FrameSolution> solutions);

  bool on_device() const { return device_ != nullptr; }
  // Why frames are decoded by the CPU, for people; empty if they are not.
  const std::string& reason() const { return reason_; }

 private:
  void drop_device(const Status& status);

  codec::Executor& executor_;
  std::unique_ptr<DeviceDecoder> device_;
  std::string reason_;
  std::vector<codec::sync::MapDecoder> on_cpu_;  // one for each thread
};

}  // namespace firn::cuda::sync
