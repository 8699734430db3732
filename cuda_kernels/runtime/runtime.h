// Devices, their memory, and streams of work on them: what the host side of the GPU codec needs of
// CUDA, without CUDA's types. All of it links and runs on machines without a driver or a device,
// and in builds without CUDA; there devices() is empty and all else is kFailed.
//
// Objects belong to the device they were made on, may be moved and not copied, and free what they
// hold. One thread at a time for each object; different objects may be used by different threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

struct Device {
  int index = -1;  // as the CUDA runtime counts
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;

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

// Bytes of the device's memory that nobody holds.
Status free_memory(const Device& device, std::size_t& bytes);

// From now on DeviceMemory objects of this process hold at most `bytes` on each device: what would
// be more is kOutOfMemory. For tests of what happens then. Any thread.
void limit_device_memory(std::size_t bytes);

// Memory on a device, at least 256-byte aligned.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&&) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) noexcept;
  ~DeviceMemory();

  // Replaces what this object held. kOutOfMemory leaves it empty and the device usable.
  Status allocate(const Device& device, std::size_t bytes);
  std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  int device_ = -1;
};

// Page-locked host memory: copies from and to it run beside other work, at the bus's full rate.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(PinnedMemory&&) noexcept;
  PinnedMemory& operator=(PinnedMemory&&) noexcept;
  ~PinnedMemory();

  Status allocate(const Device& device, std::size_t bytes);
  std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

// A point in a stream's work that other streams of the device can wait for.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  Status open(const Device& device);
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
  int device_ = -1;
};

// A queue of work on one device: runs in order, beside the work of other streams.
class Stream {
 public:
  Stream() = default;
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();  // waits for what is queued

  // kHigh: its kernels begin before those that other streams have waiting.
  enum class Priority { kNormal, kHigh };
  Status open(const Device& device, Priority priority = Priority::kNormal);
  // Waits until all that was queued is done; an error of that work shows here.
  Status wait();
  // The event is where this stream's work of now ends.
  Status mark(Event& event);
  // What is queued from now on begins after that point of the other stream, if there is one.
  Status wait_for(const Event& event);
  const Device& device() const { return device_; }
  void* handle() const { return handle_; }
  // Kernels that would hold every multiprocessor until they end leave so many to other streams.
  void leave_multiprocessors(int count) { left_ = count; }
  int multiprocessors() const { return std::max(1, device_.multiprocessors - left_); }

  // Queue copies. Host memory must stay valid until the stream has been waited for, and should be
  // pinned: with other memory the call may wait for the copy.
  Status copy_in(std::uint8_t* device_to, const std::uint8_t* host_from, std::size_t bytes);
  Status copy_out(std::uint8_t* host_to, const std::uint8_t* device_from, std::size_t bytes);
  // The same for `rows` rows of `bytes` bytes each, `to_pitch` and `from_pitch` bytes apart.
  Status copy_rows_in(std::uint8_t* device_to, std::size_t to_pitch, const std::uint8_t* host_from,
                      std::size_t from_pitch, std::size_t bytes, std::size_t rows);
  Status copy_rows_out(std::uint8_t* host_to, std::size_t to_pitch, const std::uint8_t* device_from,
                       std::size_t from_pitch, std::size_t bytes, std::size_t rows);
  Status copy_on_device(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes);
  Status fill(std::uint8_t* device_to, std::uint8_t value, std::size_t bytes);

 private:
  Device device_;
  void* handle_ = nullptr;
  int left_ = 0;
};

// Time between two points of a stream, measured on the device.
class Stopwatch {
 public:
  Stopwatch() = default;
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch();

  Status open(const Device& device);
  Status start(Stream& stream);
  Status stop(Stream& stream);
  // Waits for the stop.
  Status read(double& seconds);

 private:
  void* begin_ = nullptr;
  void* end_ = nullptr;
  int device_ = -1;
};

}  // namespace firn::cuda
