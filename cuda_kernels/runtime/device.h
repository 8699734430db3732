// The NVIDIA devices of this machine. Everything in this folder links and runs on machines without
// a driver or a device, and in builds without CUDA: there devices() is empty, and all else is
// kFailed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

class MemorySource;

struct Device {
  int index = -1;  // as the CUDA runtime counts
  std::string name = {};
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  // Where DeviceMemory comes from (memory.h); null: the CUDA runtime.
  MemorySource* memory_source = nullptr;

  // Binary mma.sync with and.popc in hardware; Turing has xor.popc alone.
  bool has_binary_mma() const { return major == 8 || (major == 9 && minor == 0); }
  // Binary wgmma: compute capability 9.0 and no other.
  bool has_binary_wgmma() const { return major == 9 && minor == 0; }
};

// All usable devices (compute capability 7.5 and later); empty if there are none.
std::vector<Device> devices();
// Why devices() is empty, for people; empty text if it is not.
std::string no_device_reason();
// The CUDA version that the installed driver is for ("13.0"); empty without a driver.
std::string driver_version();

// Bytes of the device's memory that are free.
Status free_memory(const Device& device, std::size_t& bytes);

}  // namespace firn::cuda
