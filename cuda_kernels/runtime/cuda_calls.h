// Internal: what the host side asks of the CUDA runtime, without CUDA's types. cuda_calls.cc makes
// the calls; in a build without CUDA no_cuda.cc stands in its place, and each of them fails.
//
// Calls are about the device that the calling thread selected last. Streams and events are CUDA's
// handles. What is null is never destroyed or released.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/runtime/device.h"
#include "cuda_kernels/runtime/status.h"

namespace firn::cuda::calls {

Status count_devices(int& count);
Status describe_device(int index, Device& device);
struct Versions {
  int driver = 0, runtime = 0;  // 13000 is 13.0; 0 where there is none
};
Versions versions();

Status select(int device);
Status free_memory(std::size_t& bytes);

Status allocate(std::size_t bytes, std::uint8_t*& memory);
void release(std::uint8_t* memory);
Status allocate_pinned(std::size_t bytes, std::uint8_t*& memory);
void release_pinned(std::uint8_t* memory);

Status create_stream(bool before_others, void*& stream);
void destroy_stream(void* stream);  // waits for what is queued
Status wait_for_stream(void* stream);

Status create_event(bool timed, void*& event);
void destroy_event(void* event);
Status record_event(void* event, void* stream);
Status make_stream_wait(void* stream, void* event);
// Waits for the end; both events are timed.
Status seconds_between(void* begin, void* end, double& seconds);

enum class Direction { kToDevice, kToHost, kOnDevice };
Status copy(void* to, const void* from, std::size_t bytes, Direction direction, void* stream);
Status copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                 std::size_t bytes, std::size_t rows, Direction direction, void* stream);
Status fill(void* to, std::uint8_t value, std::size_t bytes, void* stream);

}  // namespace firn::cuda::calls
