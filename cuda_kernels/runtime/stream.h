// A queue of work on one device: runs in order, beside the work of other streams. Belongs to the
// device it was opened on. One thread at a time for each object; different objects may be used by
// different threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cuda_kernels/runtime/device.h"
#include "cuda_kernels/runtime/event.h"
#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

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
  // Kernels that would hold every multiprocessor until they end leave `count` to other streams.
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

}  // namespace firn::cuda
