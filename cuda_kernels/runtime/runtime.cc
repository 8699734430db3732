#include "cuda_kernels/runtime/runtime.h"

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <utility>

#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda {
namespace {

constexpr int kOldestMajor = 7, kOldestMinor = 5;

std::atomic<std::size_t> memory_limit{~std::size_t{0}};

// Bytes in DeviceMemory objects; devices far apart share a count, which a test does not notice.
std::atomic<std::size_t>& held_on(int device) {
  static std::array<std::atomic<std::size_t>, 64> held{};
  return held[static_cast<std::size_t>(device) % held.size()];
}

cudaStream_t stream_of(void* handle) {
  return static_cast<cudaStream_t>(handle);
}
cudaEvent_t event_of(void* handle) {
  return static_cast<cudaEvent_t>(handle);
}

// One copy of `bytes` bytes, or of rows; direction from the pointers' kinds is given by `kind`.
Status copy(const Stream& stream, void* to, const void* from, std::size_t bytes,
            cudaMemcpyKind kind) {
  if (bytes == 0) return {};
  if (Status s = select(stream.device().index); !s.ok()) return s;
  return checked(cudaMemcpyAsync(to, from, bytes, kind, stream_of(stream.handle())),
                 "cudaMemcpyAsync");
}

Status copy_rows(const Stream& stream, void* to, std::size_t to_pitch, const void* from,
                 std::size_t from_pitch, std::size_t bytes, std::size_t rows, cudaMemcpyKind kind) {
  if (to_pitch == bytes && from_pitch == bytes) return copy(stream, to, from, bytes * rows, kind);
  if (bytes == 0 || rows == 0) return {};
  if (Status s = select(stream.device().index); !s.ok()) return s;
  return checked(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, rows, kind,
                                   stream_of(stream.handle())),
                 "cudaMemcpy2DAsync");
}

}  // namespace

std::vector<Device> devices() {
  std::vector<Device> found;
  int count = 0;
  if (!checked(cudaGetDeviceCount(&count), "cudaGetDeviceCount").ok()) return found;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties;
    if (!checked(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties").ok()) {
      continue;
    }
    const std::pair capability(properties.major, properties.minor);
    if (capability < std::pair(kOldestMajor, kOldestMinor)) continue;
    found.push_back({index, properties.name, properties.major, properties.minor,
                     properties.multiProcessorCount, properties.totalGlobalMem});
  }
  return found;
}

std::string no_device_reason() {
  int count = 0;
  const Status status = checked(cudaGetDeviceCount(&count), "no GPU");
  if (!status.ok()) return status.detail;
  if (count == 0) return "no GPU found";
  return devices().empty() ? "the GPU found is older than compute capability 7.5" : "";
}

std::string driver_version() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) return "";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Status free_memory(const Device& device, std::size_t& bytes) {
  if (Status s = select(device.index); !s.ok()) return s;
  std::size_t all = 0;
  return checked(cudaMemGetInfo(&bytes, &all), "cudaMemGetInfo");
}

void limit_device_memory(std::size_t bytes) {
  memory_limit = bytes;
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept {
  *this = std::move(other);
}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(device_, other.device_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (data_ == nullptr) return;
  held_on(device_) -= size_;
  if (select(device_).ok()) (void)cudaFree(data_);
}

Status DeviceMemory::allocate(const Device& device, std::size_t bytes) {
  *this = DeviceMemory();
  if (Status s = select(device.index); !s.ok()) return s;
  if (held_on(device.index).fetch_add(bytes) + bytes > memory_limit.load()) {
    held_on(device.index) -= bytes;
    return {Code::kOutOfMemory, "the limit set by limit_device_memory()"};
  }
  void* memory = nullptr;
  if (Status s = checked(cudaMalloc(&memory, bytes), "cudaMalloc"); !s.ok()) {
    held_on(device.index) -= bytes;
    return s;
  }
  data_ = static_cast<std::uint8_t*>(memory);
  size_ = bytes;
  device_ = device.index;
  return {};
}

PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept {
  *this = std::move(other);
}

PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PinnedMemory::~PinnedMemory() {
  if (data_ != nullptr) (void)cudaFreeHost(data_);
}

Status PinnedMemory::allocate(const Device& device, std::size_t bytes) {
  *this = PinnedMemory();
  if (Status s = select(device.index); !s.ok()) return s;
  void* memory = nullptr;
  const cudaError_t error = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
  if (Status s = checked(error, "cudaHostAlloc"); !s.ok()) return s;
  data_ = static_cast<std::uint8_t*>(memory);
  size_ = bytes;
  return {};
}

Event::~Event() {
  if (handle_ != nullptr && select(device_).ok()) (void)cudaEventDestroy(event_of(handle_));
}

Status Event::open(const Device& device) {
  if (handle_ != nullptr) return {};
  if (Status s = select(device.index); !s.ok()) return s;
  cudaEvent_t made = nullptr;
  const cudaError_t error = cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
  if (Status s = checked(error, "cudaEventCreate"); !s.ok()) return s;
  handle_ = made;
  device_ = device.index;
  return {};
}

Stream::Stream(Stream&& other) noexcept {
  *this = std::move(other);
}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  std::swap(left_, other.left_);
  return *this;
}

Stream::~Stream() {
  if (handle_ == nullptr || !select(device_.index).ok()) return;
  (void)cudaStreamSynchronize(stream_of(handle_));
  (void)cudaStreamDestroy(stream_of(handle_));
}

Status Stream::open(const Device& device, Priority priority) {
  *this = Stream();
  if (Status s = select(device.index); !s.ok()) return s;
  cudaStream_t stream = nullptr;
  int lowest = 0, highest = 0;  // normal is the lowest; a higher priority is a smaller number
  cudaError_t error = cudaDeviceGetStreamPriorityRange(&lowest, &highest);
  if (Status s = checked(error, "cudaDeviceGetStreamPriorityRange"); !s.ok()) return s;
  error = cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                       priority == Priority::kHigh ? highest : lowest);
  if (Status s = checked(error, "cudaStreamCreate"); !s.ok()) return s;
  device_ = device;
  handle_ = stream;
  return {};
}

Status Stream::wait() {
  if (Status s = select(device_.index); !s.ok()) return s;
  return checked(cudaStreamSynchronize(stream_of(handle_)), "work on the GPU");
}

Status Stream::mark(Event& event) {
  if (Status s = select(device_.index); !s.ok()) return s;
  return checked(cudaEventRecord(event_of(event.handle()), stream_of(handle_)), "cudaEventRecord");
}

Status Stream::wait_for(const Event& event) {
  if (Status s = select(device_.index); !s.ok()) return s;
  return checked(cudaStreamWaitEvent(stream_of(handle_), event_of(event.handle()), 0),
                 "cudaStreamWaitEvent");
}

Status Stream::copy_in(std::uint8_t* device_to, const std::uint8_t* host_from, std::size_t bytes) {
  return copy(*this, device_to, host_from, bytes, cudaMemcpyHostToDevice);
}

Status Stream::copy_out(std::uint8_t* host_to, const std::uint8_t* device_from, std::size_t bytes) {
  return copy(*this, host_to, device_from, bytes, cudaMemcpyDeviceToHost);
}

Status Stream::copy_rows_in(std::uint8_t* device_to, std::size_t to_pitch,
                            const std::uint8_t* host_from, std::size_t from_pitch,
                            std::size_t bytes, std::size_t rows) {
  return copy_rows(*this, device_to, to_pitch, host_from, from_pitch, bytes, rows,
                   cudaMemcpyHostToDevice);
}

Status Stream::copy_rows_out(std::uint8_t* host_to, std::size_t to_pitch,
                             const std::uint8_t* device_from, std::size_t from_pitch,
                             std::size_t bytes, std::size_t rows) {
  return copy_rows(*this, host_to, to_pitch, device_from, from_pitch, bytes, rows,
                   cudaMemcpyDeviceToHost);
}

Status Stream::copy_on_device(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  return copy(*this, to, from, bytes, cudaMemcpyDeviceToDevice);
}

Status Stream::fill(std::uint8_t* device_to, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return {};
  if (Status s = select(device_.index); !s.ok()) return s;
  return checked(cudaMemsetAsync(device_to, value, bytes, stream_of(handle_)), "cudaMemsetAsync");
}

Stopwatch::~Stopwatch() {
  if (device_ < 0 || !select(device_).ok()) return;
  if (begin_ != nullptr) (void)cudaEventDestroy(event_of(begin_));
  if (end_ != nullptr) (void)cudaEventDestroy(event_of(end_));
}

Status Stopwatch::open(const Device& device) {
  if (Status s = select(device.index); !s.ok()) return s;
  device_ = device.index;
  for (void** event : {&begin_, &end_}) {
    cudaEvent_t made = nullptr;
    if (Status s = checked(cudaEventCreate(&made), "cudaEventCreate"); !s.ok()) return s;
    *event = made;
  }
  return {};
}

Status Stopwatch::start(Stream& stream) {
  if (Status s = select(device_); !s.ok()) return s;
  return checked(cudaEventRecord(event_of(begin_), stream_of(stream.handle())), "cudaEventRecord");
}

Status Stopwatch::stop(Stream& stream) {
  if (Status s = select(device_); !s.ok()) return s;
  return checked(cudaEventRecord(event_of(end_), stream_of(stream.handle())), "cudaEventRecord");
}

Status Stopwatch::read(double& seconds) {
  if (Status s = select(device_); !s.ok()) return s;
  if (Status s = checked(cudaEventSynchronize(event_of(end_)), "work on the GPU"); !s.ok())
    return s;
  float ms = 0;
  const cudaError_t error = cudaEventElapsedTime(&ms, event_of(begin_), event_of(end_));
  seconds = ms / 1e3;
  return checked(error, "cudaEventElapsedTime");
}

}  // namespace firn::cuda
