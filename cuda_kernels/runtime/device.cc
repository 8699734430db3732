#include "cuda_kernels/runtime/device.h"

#include <utility>

#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda {
namespace {

constexpr int kOldestMajor = 7, kOldestMinor = 5;

}  // namespace

std::vector<Device> devices() {
  std::vector<Device> found;
  int count = 0;
  if (!calls::count_devices(count).ok()) return found;
  for (int index = 0; index < count; ++index) {
    Device device;
    if (!calls::describe_device(index, device).ok()) continue;
    const std::pair capability(device.major, device.minor);
    if (capability < std::pair(kOldestMajor, kOldestMinor)) continue;
    found.push_back(std::move(device));
  }
  return found;
}

std::string no_device_reason() {
  int count = 0;
  const Status status = calls::count_devices(count);
  if (!status.ok()) return status.detail;
  if (count == 0) return "no GPU found";
  return devices().empty() ? "the GPU found is older than compute capability 7.5" : "";
}

std::string driver_version() {
  const int version = calls::versions().driver;
  if (version == 0) return "";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Status free_memory(const Device& device, std::size_t& bytes) {
  if (Status s = calls::select(device.index); !s.ok()) return s;
  return calls::free_memory(bytes);
}

}  // namespace firn::cuda
