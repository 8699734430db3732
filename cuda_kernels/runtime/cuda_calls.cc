#include "cuda_kernels/runtime/cuda_calls.h"

#include <cuda_runtime_api.h>

#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::calls {
namespace {

cudaStream_t stream_of(void* handle) {
  return static_cast<cudaStream_t>(handle);
}
cudaEvent_t event_of(void* handle) {
  return static_cast<cudaEvent_t>(handle);
}

cudaMemcpyKind kind_of(Direction direction) {
  switch (direction) {
    case Direction::kToDevice:
      return cudaMemcpyHostToDevice;
    case Direction::kToHost:
      return cudaMemcpyDeviceToHost;
    case Direction::kOnDevice:
      break;
  }
  return cudaMemcpyDeviceToDevice;
}

}  // namespace

Status count_devices(int& count) {
  return checked(cudaGetDeviceCount(&count), "no GPU");
}

Status describe_device(int index, Device& device) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, index);
  if (Status s = checked(error, "cudaGetDeviceProperties"); !s.ok()) return s;
  device.index = index;
  device.name = properties.name;
  device.major = properties.major, device.minor = properties.minor;
  device.multiprocessors = properties.multiProcessorCount;
  device.memory_bytes = properties.totalGlobalMem;
  return {};
}

Versions versions() {
  Versions found;
  if (cudaDriverGetVersion(&found.driver) != cudaSuccess) found.driver = 0;
  if (cudaRuntimeGetVersion(&found.runtime) != cudaSuccess) found.runtime = 0;
  return found;
}

Status select(int device) {
  return checked(cudaSetDevice(device), "cudaSetDevice");
}

Status free_memory(std::size_t& bytes) {
  std::size_t all = 0;
  return checked(cudaMemGetInfo(&bytes, &all), "cudaMemGetInfo");
}

Status allocate(std::size_t bytes, std::uint8_t*& memory) {
  void* taken = nullptr;
  if (Status s = checked(cudaMalloc(&taken, bytes), "cudaMalloc"); !s.ok()) return s;
  memory = static_cast<std::uint8_t*>(taken);
  return {};
}

void release(std::uint8_t* memory) {
  (void)cudaFree(memory);
}

Status allocate_pinned(std::size_t bytes, std::uint8_t*& memory) {
  void* taken = nullptr;
  const cudaError_t error = cudaHostAlloc(&taken, bytes, cudaHostAllocPortable);
  if (Status s = checked(error, "cudaHostAlloc"); !s.ok()) return s;
  memory = static_cast<std::uint8_t*>(taken);
  return {};
}

void release_pinned(std::uint8_t* memory) {
  (void)cudaFreeHost(memory);
}

Status create_stream(bool before_others, void*& stream) {
  int lowest = 0, highest = 0;  // normal is the lowest; a higher priority is a smaller number
  cudaError_t error = cudaDeviceGetStreamPriorityRange(&lowest, &highest);
  if (Status s = checked(error, "cudaDeviceGetStreamPriorityRange"); !s.ok()) return s;
  cudaStream_t made = nullptr;
  error =
      cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, before_others ? highest : lowest);
  if (Status s = checked(error, "cudaStreamCreate"); !s.ok()) return s;
  stream = made;
  return {};
}

void destroy_stream(void* stream) {
  (void)cudaStreamSynchronize(stream_of(stream));
  (void)cudaStreamDestroy(stream_of(stream));
}

Status wait_for_stream(void* stream) {
  return checked(cudaStreamSynchronize(stream_of(stream)), "work on the GPU");
}

Status create_event(bool timed, void*& event) {
  cudaEvent_t made = nullptr;
  const cudaError_t error =
      cudaEventCreateWithFlags(&made, timed ? cudaEventDefault : cudaEventDisableTiming);
  if (Status s = checked(error, "cudaEventCreate"); !s.ok()) return s;
  event = made;
  return {};
}

void destroy_event(void* event) {
  (void)cudaEventDestroy(event_of(event));
}

Status record_event(void* event, void* stream) {
  return checked(cudaEventRecord(event_of(event), stream_of(stream)), "cudaEventRecord");
}

Status make_stream_wait(void* stream, void* event) {
  return checked(cudaStreamWaitEvent(stream_of(stream), event_of(event), 0), "cudaStreamWaitEvent");
}

Status seconds_between(void* begin, void* end, double& seconds) {
  if (Status s = checked(cudaEventSynchronize(event_of(end)), "work on the GPU"); !s.ok()) return s;
  float ms = 0;
  const cudaError_t error = cudaEventElapsedTime(&ms, event_of(begin), event_of(end));
  seconds = ms / 1e3;
  return checked(error, "cudaEventElapsedTime");
}

Status copy(void* to, const void* from, std::size_t bytes, Direction direction, void* stream) {
  return checked(cudaMemcpyAsync(to, from, bytes, kind_of(direction), stream_of(stream)),
                 "cudaMemcpyAsync");
}

Status copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                 std::size_t bytes, std::size_t rows, Direction direction, void* stream) {
  return checked(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, rows, kind_of(direction),
                                   stream_of(stream)),
                 "cudaMemcpy2DAsync");
}

Status fill(void* to, std::uint8_t value, std::size_t bytes, void* stream) {
  return checked(cudaMemsetAsync(to, value, bytes, stream_of(stream)), "cudaMemsetAsync");
}

}  // namespace firn::cuda::calls
