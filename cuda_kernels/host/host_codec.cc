#include "cuda_kernels/host/host_codec.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "cuda_kernels/choice/tuner.h"
#include "cuda_kernels/runtime/cache_file.h"

namespace firn::cuda {
namespace {

constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
// Bytes for ranks and dependent rows, of each area.
constexpr std::size_t kFoundBytes = std::size_t{1} << 20;
// Payload of a slice: long enough for the bus's full rate, short enough that the first copy in and
// the last copy out, which overlap with nothing, do not count.
constexpr std::size_t kSliceLeast = std::size_t{4} << 20, kSliceMost = std::size_t{16} << 20;
// Payload of a group: its inversion should take no longer than its payloads' way over the bus.
constexpr std::size_t kGroupBytes = std::size_t{96} << 20;
// Six slots keep both directions of the bus busy, unless slices wait for an inversion longer than
// six of them take to be copied in: for large matrices.
constexpr std::size_t kFewSlots = 6, kFewSlotsSizeMax = 512;
// A product's blocks hold a multiprocessor until they end, and each of an inversion's many short
// kernels would wait for them. Products need only a part of the device to keep up with the bus.
constexpr int kLeftToInversions = 8;  // one multiprocessor of this many

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

  Shape part(std::size_t generations) const {
    Shape slice = shape;
    slice.generations = generations;
    return slice;
  }
};

// How the memory is used: areas first, then slots. Parts of each follow one another in the order
// given here. A group is a number of whole slices.
struct HostCodec::Plan {
  std::size_t areas = 0, group = 0, slots = 0, slice = 0;

  struct AreaParts {
    std::size_t vectors, inverses, ranks, dependent, scratch;
    std::size_t total() const { return vectors + inverses + ranks + dependent + scratch; }
  };
  AreaParts area(const Device& device, const Work& work) const {
    const std::size_t n = work.shape.generation_size;
    return {aligned(group * n * n), aligned(group * n * n), aligned(group * sizeof(std::uint32_t)),
            aligned(group * n), inverse_scratch(device, group, n).best};
  }
  struct SlotParts {
    std::size_t coefficients, source, out, scratch;
    std::size_t total() const { return coefficients + source + out + scratch; }
  };
  SlotParts slot(const Device& device, const Work& work) const {
    const std::size_t n = work.shape.generation_size, m = work.shape.rows;
    const std::size_t pitch = fast_pitch(work.shape.block_bytes);
    return {work.decode ? 0 : aligned(slice * m * n), aligned(slice * n * pitch),
            aligned(slice * m * pitch), product_scratch(device, work.part(slice), work.path).best};
  }
  std::size_t total(const Device& device, const Work& work) const {
    return slots * slot(device, work).total() +
           (areas > 0 ? areas * area(device, work).total() : 0);
  }
  // Takes less memory; false if it cannot. What costs least speed goes first.
  bool shrink() {
    if (slots > kFewSlots) {
      --slots;
    } else if (group > slice) {
      group = std::max<std::size_t>(1, group / slice / 2) * slice;
    } else if (slice > 1) {
      slice /= 2;
      if (areas > 0) group = slice;
    } else if (slots > 2) {
      --slots;
    } else if (areas > 1) {
      --areas;
    } else if (slots > 1) {
      --slots;
    } else {
      return false;
    }
    return true;
  }
};

Status HostCodec::open(const Device& device, std::size_t device_bytes) {
  (void)tune(device, default_cache_folder());  // without it, choices come from properties
  for (Slot& slot : slots_) {
    if (Status s = slot.stream.open(device); !s.ok()) return s;
    slot.stream.leave_multiprocessors(device.multiprocessors / kLeftToInversions);
  }
  for (Area& area : areas_) {
    if (Status s = area.stream.open(device, Stream::Priority::kHigh); !s.ok()) return s;
    if (Status s = area.inverted.open(device); !s.ok()) return s;
    if (Status s = area.found.allocate(device, kFoundBytes); !s.ok()) return s;
  }
  for (std::size_t bytes = std::max(device_bytes, kLeastBytes);; bytes /= 2) {
    const Status status = memory_.allocate(device, bytes / 256 * 256);
    if (status.code != Code::kOutOfMemory || bytes / 2 < kLeastBytes) return status;
  }
}

Status HostCodec::product(const Shape& shape, const std::uint8_t* coefficients,
                          const std::uint8_t* source, std::uint8_t* out, Path path) {
  return run({shape, false, coefficients, source, out, {}, path});
}

Status HostCodec::decode(const Shape& shape, const std::uint8_t* vectors,
                         const std::uint8_t* payloads, std::uint8_t* out, Ranks ranks, Path path) {
  if (ranks.ranks == nullptr) return unsupported("no memory for the ranks");
  Shape square = shape;
  square.rows = shape.generation_size;
  return run({square, true, vectors, payloads, out, ranks, path});
}

Status HostCodec::make_plan(const Work& work, Plan& plan) const {
  const Device& device = slots_[0].stream.device();
  const Shape& shape = work.shape;
  const std::size_t payload =
      std::max<std::size_t>(1, std::max(shape.generation_size, shape.rows) * shape.block_bytes);
  const std::size_t count = std::max<std::size_t>(1, shape.generations);
  const std::size_t slice_bytes = std::clamp(count * payload / 10, kSliceLeast, kSliceMost);
  plan.slots = work.decode && shape.generation_size > kFewSlotsSizeMax ? kSlots : kFewSlots;
  plan.slice = std::clamp<std::size_t>(slice_bytes / payload, 1, count);
  if (work.decode) {
    const std::size_t found = kFoundBytes / (sizeof(std::uint32_t) + shape.generation_size);
    plan.slice = std::clamp<std::size_t>(found, 1, plan.slice);
    const std::size_t slices = std::min({count, found, kGroupBytes / payload}) / plan.slice;
    plan.areas = kAreas;
    plan.group = std::max<std::size_t>(1, slices) * plan.slice;
  }
  while (plan.total(device, work) > memory_.size()) {
    if (plan.shrink()) continue;
    return {Code::kOutOfMemory, "a generation needs " + std::to_string(plan.total(device, work)) +
                                    " bytes on the device, " + std::to_string(memory_.size()) +
                                    " are at hand"};
  }
  return {};
}

Status HostCodec::run(const Work& work) {
  Plan plan;
  if (Status s = make_plan(work, plan); !s.ok()) return s;
  const Device& device = slots_[0].stream.device();
  std::uint8_t* const slots =
      memory_.data() + (work.decode ? plan.areas * plan.area(device, work).total() : 0);
  const std::size_t slot_bytes = plan.slot(device, work).total();

  Status status;
  std::size_t turn = 0, inverted = 0;
  for (std::size_t g = 0; g < work.shape.generations && status.ok(); g += plan.slice, ++turn) {
    if (work.decode) {
      // A slot's slice was waited for before the next one came into it.
      const std::size_t done = turn > plan.slots ? (turn - plan.slots) * plan.slice : 0;
      status = invert_ahead(work, plan, done, turn == 0 ? 1 : 2, inverted);
      if (status.ok() && inverted <= g) {
        for (Slot& slot : slots_) {
          if (status.ok()) status = finish(slot);
        }
        if (status.ok()) status = invert_ahead(work, plan, g, 1, inverted);
      }
    }
    Slot& slot = slots_[turn % plan.slots];
    if (status.ok()) status = finish(slot);
    if (status.ok()) {
      status = queue_slice(slot, work, plan, g, slots + turn % plan.slots * slot_bytes);
    }
  }
  for (Slot& slot : slots_) {  // also after an error: the caller's memory is in use until then
    const Status finished = finish(slot);
    if (status.ok()) status = finished;
  }
  for (Area& area : areas_) {
    const Status finished = finish(area, work);
    if (status.ok()) status = finished;
  }
  return status;
}

// Queues the inversion of the next groups, `most` or as many as there is room for once the first
// `done` generations are. A few at a time: launches take as long as copies that could be under way.
Status HostCodec::invert_ahead(const Work& work, const Plan& plan, std::size_t done,
                               std::size_t most, std::size_t& inverted) {
  const Device& device = slots_[0].stream.device();
  const std::size_t area_bytes = plan.area(device, work).total();
  const std::size_t until = (done / plan.group + plan.areas) * plan.group;
  for (; most > 0 && inverted < std::min(until, work.shape.generations); --most) {
    const std::size_t index = inverted / plan.group % plan.areas;
    Area& area = areas_[index];
    if (Status s = finish(area, work); !s.ok()) return s;
    area.first = inverted;
    area.generations = std::min(plan.group, work.shape.generations - inverted);
    Status s = queue_inversion(area, work, plan, memory_.data() + index * area_bytes);
    if (!s.ok()) return s;
    inverted += area.generations;
  }
  return {};
}

Status HostCodec::queue_inversion(Area& area, const Work& work, const Plan& plan,
                                  std::uint8_t* memory) {
  Stream& stream = area.stream;
  const std::size_t n = work.shape.generation_size, count = area.generations;
  const Plan::AreaParts parts = plan.area(stream.device(), work);
  std::uint8_t* vectors = memory;
  std::uint8_t* inverses = vectors + parts.vectors;
  std::uint8_t* ranks = inverses + parts.inverses;
  std::uint8_t* dependent = ranks + parts.ranks;
  const Scratch scratch{dependent + parts.dependent, parts.scratch};
  Status s = stream.copy_in(vectors, work.coefficients + area.first * n * n, count * n * n);
  if (s.ok()) {
    s = launch_inverse(stream, count, n, vectors, inverses,
                       {reinterpret_cast<std::uint32_t*>(ranks), dependent}, scratch);
  }
  if (s.ok()) s = stream.mark(area.inverted);
  const std::size_t bytes = count * sizeof(std::uint32_t);
  if (s.ok()) s = stream.copy_out(area.found.data(), ranks, bytes);
  if (s.ok()) s = stream.copy_out(area.found.data() + bytes, dependent, count * n);
  return s;
}

Status HostCodec::queue_slice(Slot& slot, const Work& work, const Plan& plan, std::size_t first,
                              std::uint8_t* memory) {
  Stream& stream = slot.stream;
  const Device& device = stream.device();
  const std::size_t n = work.shape.generation_size, m = work.shape.rows;
  const std::size_t k = work.shape.block_bytes, pitch = fast_pitch(k);
  const std::size_t generations = std::min(plan.slice, work.shape.generations - first);
  slot.generations = generations;
  const Plan::SlotParts parts = plan.slot(device, work);
  const std::uint8_t* coefficients = memory;
  std::uint8_t* source = memory + parts.coefficients;
  std::uint8_t* out = source + parts.source;
  const Scratch scratch{out + parts.out, parts.scratch};

  Status s;
  if (!work.decode) {
    s = stream.copy_in(memory, work.coefficients + first * m * n, generations * m * n);
  }
  if (s.ok()) {
    s = stream.copy_rows_in(source, pitch, work.source + first * n * k, k, k, generations * n);
  }
  if (s.ok() && work.decode) {
    const std::size_t index = first / plan.group % plan.areas;
    const Plan::AreaParts area = plan.area(device, work);
    coefficients = memory_.data() + index * area.total() + area.vectors +
                   (first - areas_[index].first) * n * n;
    s = stream.wait_for(areas_[index].inverted);
  }
  if (s.ok()) {
    s = launch_product(stream, work.part(generations), coefficients, {source, pitch}, {out, pitch},
                       scratch, work.path);
  }
  if (s.ok()) {
    s = stream.copy_rows_out(work.out + first * m * k, k, out, pitch, k, generations * m);
  }
  return s;
}

Status HostCodec::finish(Slot& slot) {
  return std::exchange(slot.generations, 0) == 0 ? Status{} : slot.stream.wait();
}

// Waits for the area's group, if it has one, and hands out what was found.
Status HostCodec::finish(Area& area, const Work& work) {
  const std::size_t count = std::exchange(area.generations, 0);
  if (count == 0) return {};
  if (Status s = area.stream.wait(); !s.ok()) return s;
  const std::size_t n = work.shape.generation_size;
  const std::uint8_t* ranks = area.found.data();
  std::memcpy(work.ranks.ranks + area.first, ranks, count * sizeof(std::uint32_t));
  if (work.ranks.dependent != nullptr) {
    std::copy_n(ranks + count * sizeof(std::uint32_t), count * n,
                work.ranks.dependent + area.first * n);
  }
  return {};
}

}  // namespace firn::cuda
