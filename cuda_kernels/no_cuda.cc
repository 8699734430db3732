// The GPU codec in a build without CUDA: there are no devices, and nothing else can be done.
#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/host/host_codec.h"
#include "cuda_kernels/runtime/runtime.h"

namespace firn::cuda {
namespace {

Status none() {
  return {Code::kFailed, no_device_reason()};
}

}  // namespace

std::vector<Device> devices() {
  return {};
}
std::string no_device_reason() {
  return "built without CUDA";
}

std::string driver_version() {
  return "";
}

Status free_memory(const Device&, std::size_t&) {
  return none();
}

void limit_device_memory(std::size_t) {}

DeviceMemory::DeviceMemory(DeviceMemory&&) noexcept = default;
DeviceMemory& DeviceMemory::operator=(DeviceMemory&&) noexcept = default;
DeviceMemory::~DeviceMemory() = default;
Status DeviceMemory::allocate(const Device& device, std::size_t) {
  device_ = device.index;
  return none();
}

PinnedMemory::PinnedMemory(PinnedMemory&&) noexcept = default;
PinnedMemory& PinnedMemory::operator=(PinnedMemory&&) noexcept = default;
PinnedMemory::~PinnedMemory() = default;
Status PinnedMemory::allocate(const Device&, std::size_t) {
  return none();
}

Event::~Event() = default;
Status Event::open(const Device& device) {
  device_ = device.index;
  return none();
}

Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;
Status Stream::open(const Device&, Priority) {
  return none();
}
Status Stream::wait() {
  return none();
}
Status Stream::mark(Event&) {
  return none();
}
Status Stream::wait_for(const Event&) {
  return none();
}
Status Stream::copy_in(std::uint8_t*, const std::uint8_t*, std::size_t) {
  return none();
}
Status Stream::copy_out(std::uint8_t*, const std::uint8_t*, std::size_t) {
  return none();
}
Status Stream::copy_rows_in(std::uint8_t*, std::size_t, const std::uint8_t*, std::size_t,
                            std::size_t, std::size_t) {
  return none();
}
Status Stream::copy_rows_out(std::uint8_t*, std::size_t, const std::uint8_t*, std::size_t,
                             std::size_t, std::size_t) {
  return none();
}
Status Stream::copy_on_device(std::uint8_t*, const std::uint8_t*, std::size_t) {
  return none();
}
Status Stream::fill(std::uint8_t*, std::uint8_t, std::size_t) {
  return none();
}

Stopwatch::~Stopwatch() = default;
Status Stopwatch::open(const Device& device) {
  begin_ = end_ = nullptr;
  device_ = device.index;
  return none();
}
Status Stopwatch::start(Stream&) {
  return none();
}
Status Stopwatch::stop(Stream&) {
  return none();
}
Status Stopwatch::read(double&) {
  return none();
}

ScratchSize product_scratch(const Device&, const Shape&, Path) {
  return {};
}
Status launch_product(Stream&, const Shape&, const std::uint8_t*, ConstBlocks, Blocks, Scratch,
                      Path) {
  return none();
}
ScratchSize inverse_scratch(const Device&, std::size_t, std::size_t) {
  return {};
}
Status launch_inverse(Stream&, std::size_t, std::size_t, const std::uint8_t*, std::uint8_t*, Ranks,
                      Scratch) {
  return none();
}
ScratchSize decode_scratch(const Device&, const Shape&, Path) {
  return {};
}
Status launch_decode(Stream&, const Shape&, const std::uint8_t*, ConstBlocks, Blocks, Ranks,
                     Scratch, Path) {
  return none();
}
Status launch_coefficients(Stream&, std::uint64_t, std::uint64_t, std::uint64_t, std::size_t,
                           std::size_t, std::uint8_t*) {
  return none();
}

struct HostCodec::Work {};
Status HostCodec::open(const Device&, std::size_t) {
  return none();
}
Status HostCodec::product(const Shape&, const std::uint8_t*, const std::uint8_t*, std::uint8_t*,
                          Path) {
  return none();
}
Status HostCodec::decode(const Shape&, const std::uint8_t*, const std::uint8_t*, std::uint8_t*,
                         Ranks, Path) {
  return none();
}

}  // namespace firn::cuda
