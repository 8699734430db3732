// The choice of backends: what --codec says, what the machine has, and what comes of both. The one
// place that knows backends by name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/app/backends/batch_coder.h"
#include "cuda_kernels/runtime/device.h"
#include "proto/base/result.h"

namespace firn::app {

// The model, as the kernel names it; "unknown CPU" where it does not.
std::string cpu_name();

enum class CodecMode {
  kAuto,  // CPU and GPUs, each the share that its measured rate says; the CPU alone without a GPU
  kCpu,
  kGpu,  // GPUs alone, until they fail
};
std::optional<CodecMode> parse_codec_mode(std::string_view text);  // "auto", "cpu", "gpu"

struct CodecChoice {
  std::vector<cuda::Device> devices;  // empty: the workers do all coding on the CPU
  std::string text;                   // for people: "GPU NVIDIA H200 and CPU, by measured rates"
};
// Looks for devices unless the mode is kCpu. Errors: kNoDevice (kGpu, and there is none).
Result<CodecChoice> choose_codec(CodecMode mode);

struct CoderOptions {
  CodecMode mode = CodecMode::kAuto;
  unsigned threads = 1;  // of the CPU's share
  std::uint64_t memory_bytes = 0;
  std::uint64_t seed = 0;
  StageClock* stages = nullptr;  // where the coder's time is counted; outlives it
  // Where kAuto keeps what CPU and devices were seen to take, for later runs; empty: nowhere.
  std::string cache_folder = {};
};

// The coder for a choice that has devices. Takes their memory when it is first used. Pinned memory
// is twice a batch, and comes on top of `memory_bytes`.
std::unique_ptr<BatchCoder> make_coder(const CodecChoice& choice, const CoderOptions& options,
                                       BufferPool& buffers,
                                       codec::SharedBackend::Dropped on_dropped,
                                       std::function<void()> on_completion);

}  // namespace firn::app
