// The choice of the backends that code: from --codec and from the devices that this machine has.
// Transfers name kinds of backends only here; `firn bench` measures each kind by itself.
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

// The CPU's model name, from the operating system; "unknown CPU" if that gives none.
std::string cpu_name();

enum class CodecMode {
  kAuto,  // CPU and GPUs, each with a share by its measured rate; without a GPU the CPU alone
  kCpu,
  kGpu,  // GPUs alone; the CPU only where they cannot code
};
std::optional<CodecMode> parse_codec_mode(std::string_view text);  // "auto", "cpu", "gpu"

struct CodecChoice {
  std::vector<cuda::Device> devices;  // empty: the workers do all coding on the CPU
  std::string text;                   // for people: "GPU NVIDIA H200 and CPU, by measured rates"
};
// Looks for devices unless the mode is kCpu. Errors: kNoDevice (with kGpu, if there is none).
Result<CodecChoice> choose_codec(CodecMode mode);

struct CoderOptions {
  CodecMode mode = CodecMode::kAuto;
  unsigned threads = 1;  // of the CPU's share
  std::uint64_t memory_bytes = 0;
  std::uint64_t seed = 0;
  StageClock* stages = nullptr;  // where the coder's time is counted; outlives it
  // Folder in which kAuto keeps the measured costs of CPU and devices for later runs; empty: none.
  std::string cache_folder = {};
};

// Makes the coder for a choice that has devices. It takes device memory on first use. Its pinned
// host memory, twice a batch, is not part of `memory_bytes`.
std::unique_ptr<BatchCoder> make_coder(const CodecChoice& choice, const CoderOptions& options,
                                       BufferPool& buffers,
                                       codec::SharedBackend::Dropped on_dropped,
                                       std::function<void()> on_completion);

}  // namespace firn::app
