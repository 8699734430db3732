#include "power_meter.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <chrono>

namespace firn::cuda {
namespace {

// Of NVML's reference manual ("Device Queries", "Field Value Enums", "NvmlClocksEventReasons").
constexpr int kClockSm = 1;
constexpr unsigned kFieldPowerInstant = 186;  // milliwatts
constexpr unsigned long long kReasonPowerCap = 0x4;
constexpr unsigned long long kReasonsOther = 0x8 | 0x20 | 0x40 | 0x80;
constexpr auto kEvery = std::chrono::milliseconds(5);

using Handle = void*;
// nvmlFieldValue_t: what a field's value is read into.
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  int type, result;
  union {
    double real;
    unsigned number;
    unsigned long long large;
  } value;
};

}  // namespace

struct PowerMeter::Library {
  void* file = nullptr;
  Handle device = nullptr;
  int (*clock)(Handle, int, unsigned*) = nullptr;
  int (*reasons)(Handle, unsigned long long*) = nullptr;
  int (*fields)(Handle, int, FieldValue*) = nullptr;
  int (*shutdown)() = nullptr;

  template <typename Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(file, name));
    return function != nullptr;
  }
  ~Library() {
    if (shutdown != nullptr) (void)shutdown();
    if (file != nullptr) dlclose(file);
  }
};

PowerMeter::PowerMeter(const Device& device) : library_(std::make_unique<Library>()) {
  Library& nvml = *library_;
  nvml.file = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (nvml.file == nullptr) {
    problem_ = "no libnvidia-ml.so.1";
    return;
  }
  int (*init)() = nullptr;
  int (*by_bus)(const char*, Handle*) = nullptr;
  int (*limit)(Handle, unsigned*) = nullptr;
  int (*clock_max)(Handle, int, unsigned*) = nullptr;
  if (!nvml.find(init, "nvmlInit_v2") || !nvml.find(by_bus, "nvmlDeviceGetHandleByPciBusId_v2") ||
      !nvml.find(limit, "nvmlDeviceGetEnforcedPowerLimit") ||
      !nvml.find(clock_max, "nvmlDeviceGetMaxClockInfo") ||
      !nvml.find(nvml.clock, "nvmlDeviceGetClockInfo") ||
      !nvml.find(nvml.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons") ||
      !nvml.find(nvml.fields, "nvmlDeviceGetFieldValues")) {
    problem_ = "libnvidia-ml.so.1 lacks a function";
    return;
  }
  char bus[32] = {};
  if (init() != 0 || !nvml.find(nvml.shutdown, "nvmlShutdown") ||
      cudaDeviceGetPCIBusId(bus, sizeof bus, device.index) != cudaSuccess ||
      by_bus(bus, &nvml.device) != 0) {
    problem_ = "NVML does not know the device";
    return;
  }
  unsigned milliwatts = 0, mhz = 0;
  if (limit(nvml.device, &milliwatts) == 0) limit_watts_ = milliwatts / 1e3;
  if (clock_max(nvml.device, kClockSm, &mhz) == 0) sm_mhz_max_ = mhz;
}

PowerMeter::~PowerMeter() {
  (void)stop();
}

void PowerMeter::start() {
  samples_.clear();
  stopping_ = false;
  thread_ = std::thread([this] { sample_until_stopped(); });
}

void PowerMeter::sample_until_stopped() {
  const Library& nvml = *library_;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!problem_.empty()) {
      stop_asked_.wait(lock);
      continue;
    }
    FieldValue power{};
    power.field = kFieldPowerInstant;
    unsigned mhz = 0;
    unsigned long long reasons = 0;
    if (nvml.fields(nvml.device, 1, &power) == 0 && power.result == 0 &&
        nvml.clock(nvml.device, kClockSm, &mhz) == 0 && nvml.reasons(nvml.device, &reasons) == 0) {
      samples_.push_back({power.value.number / 1e3, static_cast<double>(mhz), reasons});
    }
    stop_asked_.wait_for(lock, kEvery);
  }
}

PowerMeter::Reading PowerMeter::stop(double last_part) {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_asked_.notify_all();
  if (thread_.joinable()) thread_.join();
  Reading mean;
  const auto skipped =
      static_cast<std::size_t>((1 - last_part) * static_cast<double>(samples_.size()));
  for (std::size_t i = skipped; i < samples_.size(); ++i, ++mean.samples) {
    mean.watts += samples_[i].watts;
    mean.sm_mhz += samples_[i].sm_mhz;
    mean.at_power_limit += (samples_[i].reasons & kReasonPowerCap) != 0;
    mean.otherwise_held += (samples_[i].reasons & kReasonsOther) != 0;
  }
  if (mean.samples == 0) return mean;
  const auto count = static_cast<double>(mean.samples);
  mean.watts /= count, mean.sm_mhz /= count;
  mean.at_power_limit /= count, mean.otherwise_held /= count;
  return mean;
}

PowerMeter::Reading PowerMeter::watch(double seconds) {
  start();
  {
    std::unique_lock lock(mutex_);
    stop_asked_.wait_for(lock, std::chrono::duration<double>(seconds),
                         [this] { return stopping_; });
  }
  return stop();
}

}  // namespace firn::cuda
