#include "cuda_kernels/host_codec.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "cuda_kernels/tuning.h"

namespace firn::cuda {
namespace {

constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
// Bytes for ranks and dependent rows, of each slot.
constexpr std::size_t kFoundBytes = std::size_t{1} << 20;

// Payload of a slice: long enough for the bus's full rate, short enough that the first copy in and
// the last copy out, which overlap with nothing, do not count. Inversion is fastest with hundreds
// of matrices at once, so slices of decoding may be longer.
std::size_t slice_bytes(std::size_t all, bool decode) {
  const std::size_t most = std::size_t{decode ? 128u : 16u} << 20;
  return std::clamp(all / 10, std::size_t{4} << 20, most);
}

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

}  // namespace

struct HostCodec::Work {
  Shape shape;
  bool decode;
  const std::uint8_t* coefficients;
  const std::uint8_t* source;
  std::uint8_t* out;
  Ranks ranks;
  Path path;

  // Parts of a slot's memory for a slice of `generations`, one after the other.
  struct Parts {
    std::size_t coefficients, source, out, ranks, dependent, scratch;
    std::size_t total() const { return coefficients + source + out + ranks + dependent + scratch; }
  };
  Parts parts(const Device& device, std::size_t generations) const {
    const std::size_t n = shape.generation_size, m = shape.rows;
    const std::size_t pitch = fast_pitch(shape.block_bytes);
    Shape slice = shape;
    slice.generations = generations;
    return {
        aligned(generations * m * n),
        aligned(generations * n * pitch),
        aligned(generations * m * pitch),
        decode ? aligned(generations * sizeof(std::uint32_t)) : 0,
        decode ? aligned(generations * n) : 0,
        (decode ? decode_scratch(device, slice, path) : product_scratch(device, slice, path)).best};
  }
};

Status HostCodec::open(const Device& device, std::size_t device_bytes) {
  (void)tune(device, default_cache_folder());  // without it, choices come from properties
  for (Slot& slot : slots_) {
    if (Status s = slot.stream.open(device); !s.ok()) return s;
  }
  for (std::size_t bytes = std::max(device_bytes, kLeastBytes);; bytes /= 2) {
    Status status;
    for (Slot& slot : slots_) slot.memory = DeviceMemory();
    for (Slot& slot : slots_) {
      if (status.ok()) status = slot.memory.allocate(device, bytes / kSlots / 256 * 256);
      if (status.ok()) status = slot.found.allocate(device, kFoundBytes);
    }
    if (status.code != Code::kOutOfMemory || bytes / 2 < kLeastBytes) return status;
  }
}

Status HostCodec::product(const Shape& shape, const std::uint8_t* coefficients,
                          const std::uint8_t* source, std::uint8_t* out, Path path) {
  return run({shape, false, coefficients, source, out, {}, path});
}

Status HostCodec::decode(const Shape& shape, const std::uint8_t* vectors,
                         const std::uint8_t* payloads, std::uint8_t* out, Ranks ranks, Path path) {
  if (ranks.ranks == nullptr) return bad_argument("no memory for the ranks");
  Shape square = shape;
  square.rows = shape.generation_size;
  return run({square, true, vectors, payloads, out, ranks, path});
}

Status HostCodec::run(const Work& work) {
  const Device& device = slots_[0].stream.device();
  const std::size_t capacity = slots_[0].memory.size();
  const Shape& shape = work.shape;
  const std::size_t one = work.parts(device, 1).total();
  if (one > capacity) {
    return {Code::kOutOfMemory, "a generation needs " + std::to_string(one) +
                                    " bytes on the device, " + std::to_string(capacity) +
                                    " are at hand"};
  }
  const std::size_t payload =
      std::max<std::size_t>(1, std::max(shape.generation_size, shape.rows) * shape.block_bytes);
  std::size_t slice = std::min({slice_bytes(shape.generations * payload, work.decode) / payload,
                                capacity / std::max<std::size_t>(1, one),
                                kFoundBytes / (sizeof(std::uint32_t) + shape.generation_size)});
  slice = std::max<std::size_t>(1, slice);

  Status status;
  std::size_t turn = 0;
  for (std::size_t g = 0; g < shape.generations && status.ok(); g += slice, ++turn) {
    Slot& slot = slots_[turn % kSlots];
    status = finish_slice(slot, work);
    slot.first = g;
    slot.generations = std::min(slice, shape.generations - g);
    if (status.ok()) status = queue_slice(slot, work);
  }
  for (Slot& slot : slots_) {  // also after an error: the caller's memory is in use until then
    const Status finished = finish_slice(slot, work);
    if (status.ok()) status = finished;
  }
  return status;
}

// Waits for the slot's slice, if it has one, and hands out what was found.
Status HostCodec::finish_slice(Slot& slot, const Work& work) {
  const std::size_t generations = std::exchange(slot.generations, 0);
  if (generations == 0) return {};
  if (Status s = slot.stream.wait(); !s.ok()) return s;
  if (!work.decode) return {};
  const std::size_t n = work.shape.generation_size;
  const std::uint8_t* ranks = slot.found.data();
  std::memcpy(work.ranks.ranks + slot.first, ranks, generations * sizeof(std::uint32_t));
  if (work.ranks.dependent != nullptr) {
    std::copy_n(ranks + generations * sizeof(std::uint32_t), generations * n,
                work.ranks.dependent + slot.first * n);
  }
  return {};
}

Status HostCodec::queue_slice(Slot& slot, const Work& work) {
  Stream& stream = slot.stream;
  const std::size_t first = slot.first, generations = slot.generations;
  const std::size_t n = work.shape.generation_size, m = work.shape.rows;
  const std::size_t k = work.shape.block_bytes, pitch = fast_pitch(k);
  const Work::Parts parts = work.parts(stream.device(), generations);
  std::uint8_t* coefficients = slot.memory.data();
  std::uint8_t* source = coefficients + parts.coefficients;
  std::uint8_t* out = source + parts.source;
  std::uint8_t* ranks = out + parts.out;
  std::uint8_t* dependent = ranks + parts.ranks;
  const Scratch scratch{dependent + parts.dependent, parts.scratch};
  Shape slice = work.shape;
  slice.generations = generations;

  Status s = stream.copy_in(coefficients, work.coefficients + first * m * n, generations * m * n);
  if (s.ok()) {
    s = stream.copy_rows_in(source, pitch, work.source + first * n * k, k, k, generations * n);
  }
  if (s.ok() && work.decode) {
    s = launch_decode(stream, slice, coefficients, {source, pitch}, {out, pitch},
                      {reinterpret_cast<std::uint32_t*>(ranks), dependent}, scratch, work.path);
  } else if (s.ok()) {
    s = launch_product(stream, slice, coefficients, {source, pitch}, {out, pitch}, scratch,
                       work.path);
  }
  if (s.ok()) {
    s = stream.copy_rows_out(work.out + first * m * k, k, out, pitch, k, generations * m);
  }
  if (s.ok() && work.decode) {
    const std::size_t bytes = generations * sizeof(std::uint32_t);
    s = stream.copy_out(slot.found.data(), ranks, bytes);
    if (s.ok()) s = stream.copy_out(slot.found.data() + bytes, dependent, generations * n);
  }
  return s;
}

}  // namespace firn::cuda
