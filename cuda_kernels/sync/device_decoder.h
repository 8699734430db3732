// The MAP decoder's superposed form (codec/sync/map_decoder.h) on one device, many frames at a
// time. It keeps all paths that codec::sync's kSuperposed keeps, and those that leave
// StateLimits::frame within a codeword and come back. Frames whose mass float cannot hold are
// decoded again in double, in the same batch. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/executor.h"
#include "codec/sync/map_decoder.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/status.h"
#include "cuda_kernels/runtime/stream.h"
#include "cuda_kernels/sync/batch_layout.h"
#include "cuda_kernels/sync/job.h"

namespace firn::cuda::sync {

struct DeviceDecoderOptions {
  // kDouble: every frame in double, for those that need 1e-9; else float.
  codec::sync::Precision precision = codec::sync::Precision::kSingle;
  std::size_t frames_max = 4096;  // in a batch; fewer where memory is short
};

class DeviceDecoder {
 public:
  // Takes the memory for a batch. `executor` converts the host's side and must outlive this object.
  // Channel and limits are valid. kOutOfMemory where no batch fits the device.
  Status open(const Device& device, const codec::sync::TvbCode& code,
              const codec::sync::Channel& channel, const codec::sync::StateLimits& limits,
              const DeviceDecoderOptions& options, codec::Executor& executor);

  // As MapDecoder::decode for each problem, in batches. As many solutions as problems. After a
  // failure (kFailed, kOutOfMemory) the solutions mean nothing.
  Status decode(std::span<const codec::sync::FrameProblem> problems,
                std::span<codec::sync::FrameSolution> solutions);

  // The parts of decode() for a batch of 1 to frames_max() problems: a benchmark times the second,
  // any number of times. The first two may return before the device has done it; the third waits.
  Status upload(std::span<const codec::sync::FrameProblem> problems);
  Status launch();
  Status download(std::span<codec::sync::FrameSolution> solutions);

  std::size_t frames_max() const { return frames_max_; }
  Stream& stream() { return stream_; }

 private:
  bool in_double() const { return options_.precision == codec::sync::Precision::kDouble; }
  Status take_memory(std::size_t frames);
  Status size_kernel(Job& job, Kernel kernel, std::size_t frames, DeviceMemory& workspace);
  BatchLayout layout(std::size_t frames, bool with_priors) const;
  Status fill(const codec::sync::FrameProblem& problem, std::size_t frame, const BatchLayout& at);
  void read(std::size_t frame, const BatchLayout& at, codec::sync::FrameSolution& solution) const;
  void point(Job& job, const BatchLayout& at) const;

  std::optional<codec::sync::TvbCode> code_;
  codec::sync::DriftRange range_;
  DeviceDecoderOptions options_;
  codec::Executor* executor_ = nullptr;
  Stream stream_;
  Job job_, redo_job_;  // all frames; those that float lost, in double
  DeviceMemory books_, input_, output_, redo_, workspace_, redo_workspace_;
  PinnedMemory pinned_input_, pinned_output_;
  std::size_t frames_max_ = 0, frames_ = 0;
  bool with_priors_ = false;
  std::vector<std::uint8_t> outside_;  // of each frame of the batch: no state fits
};

}  // namespace firn::cuda::sync
