#include "cuda_kernels/runtime/stream.h"

#include <utility>

#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda {
namespace {

using calls::Direction;

Status copy(const Stream& stream, void* to, const void* from, std::size_t bytes,
            Direction direction) {
  if (bytes == 0) return {};
  if (Status s = calls::select(stream.device().index); !s.ok()) return s;
  return calls::copy(to, from, bytes, direction, stream.handle());
}

Status copy_rows(const Stream& stream, void* to, std::size_t to_pitch, const void* from,
                 std::size_t from_pitch, std::size_t bytes, std::size_t rows, Direction direction) {
  if (to_pitch == bytes && from_pitch == bytes) {
    return copy(stream, to, from, bytes * rows, direction);
  }
  if (bytes == 0 || rows == 0) return {};
  if (Status s = calls::select(stream.device().index); !s.ok()) return s;
  return calls::copy_rows(to, to_pitch, from, from_pitch, bytes, rows, direction, stream.handle());
}

}  // namespace

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
  if (handle_ != nullptr && calls::select(device_.index).ok()) calls::destroy_stream(handle_);
}

Status Stream::open(const Device& device, Priority priority) {
  *this = Stream();
  if (Status s = calls::select(device.index); !s.ok()) return s;
  if (Status s = calls::create_stream(priority == Priority::kHigh, handle_); !s.ok()) return s;
  device_ = device;
  return {};
}

Status Stream::wait() {
  if (Status s = calls::select(device_.index); !s.ok()) return s;
  return calls::wait_for_stream(handle_);
}

Status Stream::mark(Event& event) {
  if (Status s = calls::select(device_.index); !s.ok()) return s;
  return calls::record_event(event.handle(), handle_);
}

Status Stream::wait_for(const Event& event) {
  if (Status s = calls::select(device_.index); !s.ok()) return s;
  return calls::make_stream_wait(handle_, event.handle());
}

Status Stream::copy_in(std::uint8_t* device_to, const std::uint8_t* host_from, std::size_t bytes) {
  return copy(*this, device_to, host_from, bytes, Direction::kToDevice);
}

Status Stream::copy_out(std::uint8_t* host_to, const std::uint8_t* device_from, std::size_t bytes) {
  return copy(*this, host_to, device_from, bytes, Direction::kToHost);
}

Status Stream::copy_rows_in(std::uint8_t* device_to, std::size_t to_pitch,
                            const std::uint8_t* host_from, std::size_t from_pitch,
                            std::size_t bytes, std::size_t rows) {
  return copy_rows(*this, device_to, to_pitch, host_from, from_pitch, bytes, rows,
                   Direction::kToDevice);
}

Status Stream::copy_rows_out(std::uint8_t* host_to, std::size_t to_pitch,
                             const std::uint8_t* device_from, std::size_t from_pitch,
                             std::size_t bytes, std::size_t rows) {
  return copy_rows(*this, host_to, to_pitch, device_from, from_pitch, bytes, rows,
                   Direction::kToHost);
}

Status Stream::copy_on_device(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  return copy(*this, to, from, bytes, Direction::kOnDevice);
}

Status Stream::fill(std::uint8_t* device_to, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return {};
  if (Status s = calls::select(device_.index); !s.ok()) return s;
  return calls::fill(device_to, value, bytes, handle_);
}

}  // namespace firn::cuda
