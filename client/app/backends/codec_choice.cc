#include "client/app/backends/codec_choice.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "client/app/backends/learnt_costs.h"
#include "codec/backend.h"
#include "codec/kernels.h"
#include "codec/thread_pool.h"
#include "cuda_kernels/host/device_backend.h"

namespace firn::app {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

// A CPU backend with threads of its own.
class PooledCpu final : public codec::Backend {
 public:
  explicit PooledCpu(unsigned threads) : pool_(threads), cpu_(pool_, codec::kernels()) {}
  std::string name() const override { return "CPU"; }
  codec::BackendStatus encode(const codec::EncodeWork& work) override { return cpu_.encode(work); }
  codec::BackendStatus decode(std::span<codec::GenerationWork> generations) override {
    return cpu_.decode(generations);
  }

 private:
  codec::ThreadPool pool_;
  codec::CpuBackend cpu_;
};

std::string device_names(const std::vector<cuda::Device>& devices) {
  std::string names;
  for (const cuda::Device& device : devices) names += (names.empty() ? "" : ", ") + device.name;
  return names;
}

// What measured costs hold for. Hosts of different kinds may share a home folder.
std::string machine_of(const CodecChoice& choice, const CoderOptions& options) {
  return "CPU " + cpu_name() + ", " + std::string(codec::kernels().name) + ", threads " +
         std::to_string(options.threads) + "; GPU " + device_names(choice.devices) + ", driver " +
         cuda::driver_version();
}

}  // namespace

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown CPU";
}

std::optional<CodecMode> parse_codec_mode(std::string_view text) {
  if (text == "auto") return CodecMode::kAuto;
  if (text == "cpu") return CodecMode::kCpu;
  if (text == "gpu") return CodecMode::kGpu;
  return std::nullopt;
}

Result<CodecChoice> choose_codec(CodecMode mode) {
  CodecChoice choice;
  if (mode == CodecMode::kCpu) {
    choice.text = "CPU";
    return choice;
  }
  choice.devices = cuda::devices();
  if (choice.devices.empty()) {
    const std::string reason = cuda::no_device_reason();
    if (mode == CodecMode::kGpu)
      return Error{ErrorCode::kNoDevice, "use --codec gpu",
                   reason + "; --codec auto or cpu works without a GPU"};
    choice.text = "CPU (" + reason + ")";
    return choice;
  }
  choice.text = "GPU " + device_names(choice.devices);
  if (mode == CodecMode::kAuto) choice.text += " and CPU, by measured rates";
  return choice;
}

std::unique_ptr<BatchCoder> make_coder(const CodecChoice& choice, const CoderOptions& options,
                                       BufferPool& buffers,
                                       codec::SharedBackend::Dropped on_dropped,
                                       std::function<void()> on_completion) {
  BatchCoder::Options coder;
  coder.batch_bytes = std::clamp<std::uint64_t>(options.memory_bytes / 8, 4 * kMiB, 256 * kMiB);
  coder.stock_bytes = options.memory_bytes / 16;
  coder.seed = options.seed;
  coder.stages = options.stages;
  LearntCosts known;
  if (options.mode == CodecMode::kAuto) {
    const std::string machine = machine_of(choice, options);
    known = load_costs(options.cache_folder, machine);
    coder.on_end = [machine, folder = options.cache_folder](const codec::SharedBackend& backend) {
      save_costs(folder, machine, backend.learnt());
    };
  }
  const auto make_backend = [&](codec::SharedBackend::Dropped dropped) {
    std::vector<std::unique_ptr<codec::Backend>> devices;
    for (const cuda::Device& device : choice.devices) {
      cuda::DeviceBackend::Options limits;
      limits.batch_bytes = coder.batch_bytes;
      devices.push_back(std::make_unique<cuda::DeviceBackend>(device, limits));
    }
    auto backend = std::make_unique<codec::SharedBackend>(
        std::move(devices), std::make_unique<PooledCpu>(std::max(1u, options.threads)),
        options.mode == CodecMode::kGpu ? codec::SharedBackend::Policy::kDevices
                                        : codec::SharedBackend::Policy::kMeasured,
        std::move(dropped));
    backend->recall(known);
    return backend;
  };
  return std::make_unique<BatchCoder>(coder, buffers, make_backend, std::move(on_dropped),
                                      std::move(on_completion));
}

}  // namespace firn::app
