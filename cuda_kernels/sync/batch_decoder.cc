#include "cuda_kernels/sync/batch_decoder.h"

#include <algorithm>

#include "cuda_kernels/runtime/device.h"

namespace firn::cuda::sync {

BatchDecoder::BatchDecoder(const codec::sync::TvbCode& code, const codec::sync::Channel& channel,
                           const codec::sync::StateLimits& limits,
                           const DeviceDecoderOptions& options, const std::vector<Device>& devices,
                           codec::Executor& executor)
    : executor_(executor) {
  codec::sync::DecoderOptions cpu;
  cpu.precision = options.precision;
  on_cpu_.assign(std::max<std::size_t>(1, executor.threads()),
                 codec::sync::MapDecoder(code, channel, limits, cpu));
  if (devices.empty()) {
    reason_ = no_device_reason();
    if (reason_.empty()) reason_ = "no GPU is to be used";
    return;
  }
  device_ = std::make_unique<DeviceDecoder>();
  const Status opened = device_->open(devices.front(), code, channel, limits, options, executor);
  if (!opened.ok()) drop_device(opened);
}

void BatchDecoder::drop_device(const Status& status) {
  device_.reset();
  reason_ = status.detail;
}

void BatchDecoder::decode(std::span<const codec::sync::FrameProblem> problems,
                          std::span<codec::sync::FrameSolution> solutions) {
  if (device_ != nullptr) {
    const Status done = device_->decode(problems, solutions);
    if (done.ok()) return;
    drop_device(done);
  }
  const std::size_t parts = std::min(on_cpu_.size(), problems.size());
  executor_.run(parts, [&](std::size_t part) {
    for (std::size_t f = part; f < problems.size(); f += parts) {
      on_cpu_[part].decode(problems[f], solutions[f]);
    }
  });
}

}  // namespace firn::cuda::sync
