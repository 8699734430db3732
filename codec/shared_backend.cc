#include "codec/shared_backend.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "codec/try_thread.h"

namespace firn::codec {
namespace {

// What an unused member's costs shrink by with every batch: one that is twice as dear as it looks
// worth is tried again after about 70 batches.
constexpr double kEagernessStep = 0.99;

// All at once, the first on this thread, with those that find no thread after it.
void run_beside(const std::vector<std::function<void()>>& works) {
  std::vector<std::thread> others;
  std::vector<const std::function<void()>*> mine;
  for (const std::function<void()>& work : works) {
    auto other = mine.empty() ? std::nullopt : try_thread(work);
    if (other) {
      others.push_back(*std::move(other));
    } else {
      mine.push_back(&work);
    }
  }
  for (const auto* work : mine) (*work)();
  for (std::thread& other : others) other.join();
}

}  // namespace

SharedBackend::Timer SharedBackend::wall_clock() {
  return [](const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
}

SharedBackend::SharedBackend(std::vector<std::unique_ptr<Backend>> devices,
                             std::unique_ptr<Backend> cpu, Policy policy, Dropped dropped,
                             Timer timer)
    : policy_(policy), dropped_(std::move(dropped)), timer_(std::move(timer)) {
  cpu_.backend = std::move(cpu);
  for (auto& device : devices) {
    devices_.push_back(std::make_unique<Member>());
    devices_.back()->index = counts_.by_device.size();
    counts_.by_device.push_back({device->name()});
    devices_.back()->backend = std::move(device);
  }
}

std::string SharedBackend::name() const {
  std::string names;
  for (const auto& device : devices_)
    names += (names.empty() ? "" : " + ") + device->backend->name();
  if (policy_ == Policy::kMeasured || names.empty())
    names += (names.empty() ? "" : " + ") + cpu_.backend->name();
  return names;
}

// All devices at once: opening one takes a good part of a second.
void SharedBackend::make_ready(const ShapeKey& shape) {
  std::vector<std::function<void()>> preparations;
  for (const auto& device : devices_) {
    if (std::exchange(device->costs[shape].prepared, true)) continue;
    preparations.push_back(
        [&shape, backend = device->backend.get()] { backend->prepare(shape.first, shape.second); });
  }
  run_beside(preparations);
}

// The members that may work on this shape, devices first.
std::vector<SharedBackend::Member*> SharedBackend::candidates(const ShapeKey& shape) {
  make_ready(shape);
  std::vector<Member*> members;
  for (const auto& device : devices_) {
    if (!device->costs[shape].unsupported) members.push_back(device.get());
  }
  if (members.empty() || policy_ == Policy::kMeasured) members.push_back(&cpu_);
  return members;
}

void SharedBackend::prepare(std::size_t generation_size, std::size_t block_bytes) {
  (void)candidates({generation_size, block_bytes});
}

std::vector<SharedBackend::LearntCost> SharedBackend::learnt() const {
  std::vector<LearntCost> all;
  std::vector<std::string> told;
  const auto tell = [&](const Member& member) {
    const std::string name = member.backend->name();
    if (std::find(told.begin(), told.end(), name) != told.end()) return;
    told.push_back(name);
    for (const auto& [shape, costs] : member.costs) {
      for (const bool encode : {false, true}) {
        for (const auto& [count, seconds] :
             (encode ? costs.encode : costs.decode).measured.known_points())
          all.push_back({name, encode, shape.first, shape.second, count, seconds});
      }
    }
  };
  for (const auto& device : devices_) tell(*device);
  tell(cpu_);
  return all;
}

void SharedBackend::recall(std::span<const LearntCost> costs) {
  const auto tell = [](Member& member, const LearntCost& cost) {
    if (member.backend->name() != cost.member) return;
    Costs& of_shape = member.costs[{cost.generation_size, cost.block_bytes}];
    (cost.encode ? of_shape.encode : of_shape.decode).measured.add(cost.count, cost.seconds);
  };
  for (const LearntCost& cost : costs) {
    for (const auto& device : devices_) tell(*device, cost);
    tell(cpu_, cost);
  }
}

// --- decoding ---

// One generation to each member that was never measured; each of the others to the member that
// would be done first. Then each takes its share of the batch from where the one before it ended.
std::vector<SharedBackend::Share> SharedBackend::divide(const ShapeKey& shape, std::size_t count) {
  std::vector<Share> shares;
  for (Member* member : candidates(shape)) shares.push_back({member, 0, 0, {}, 0});
  std::size_t left = count;
  bool any_known = false;
  for (Share& share : shares) {
    const bool known = share.member->costs[shape].decode.measured.known();
    any_known |= known;
    if (known || left == 0) continue;
    share.count = 1;
    --left;
  }
  for (; left > 0; --left) {
    Share* best = any_known ? nullptr : &shares.front();
    double best_end = 0;
    for (Share& share : shares) {
      const Cost& cost = share.member->costs[shape].decode;
      if (!cost.measured.known()) continue;
      const double end = cost.estimate(share.count + 1);
      if (best == nullptr || end < best_end) best = &share, best_end = end;
    }
    ++best->count;
  }
  std::size_t first = 0;
  for (Share& share : shares) {
    share.first = first;
    first += share.count;
    Cost& cost = share.member->costs[shape].decode;
    cost.eagerness = share.count > 0 ? 1 : cost.eagerness * kEagernessStep;
  }
  std::erase_if(shares, [](const Share& share) { return share.count == 0; });
  return shares;
}

BackendStatus SharedBackend::decode(std::span<GenerationWork> generations) {
  if (generations.empty()) return {};
  const ShapeKey shape{generations[0].generation_size, generations[0].block_bytes};
  std::vector<Share> shares = divide(shape, generations.size());
  std::vector<std::function<void()>> runs;
  for (Share& share : shares)
    runs.push_back([this, &share, generations] { run(share, generations); });
  run_beside(runs);

  ++counts_.decode_batches;
  for (Share& share : shares) {
    if (share.status.ok()) {
      share.member->costs[shape].decode.measured.add(share.count, share.seconds);
      (share.member == &cpu_ ? counts_.decoded_by_cpu : counts_.decoded_by_devices) += share.count;
      if (share.member != &cpu_) counts_.by_device[share.member->index].decoded += share.count;
      continue;
    }
    failed(*share.member, shape, share.status);
    const BackendStatus rescued =
        cpu_.backend->decode(generations.subspan(share.first, share.count));
    if (!rescued.ok()) return rescued;
    counts_.decoded_by_cpu += share.count;
  }
  return {};
}

// On any thread; touches nothing but the share and its generations.
void SharedBackend::run(Share& share, std::span<GenerationWork> generations) {
  share.status = decode_in_parts(*share.member->backend,
                                 generations.subspan(share.first, share.count), share.seconds);
}

// A device without memory for all at once may have enough for fewer.
BackendStatus SharedBackend::decode_in_parts(Backend& backend,
                                             std::span<GenerationWork> generations,
                                             double& seconds) {
  BackendStatus status;
  seconds += timer_([&] { status = backend.decode(generations); });
  if (status.code != BackendStatus::Code::kOutOfMemory || generations.size() == 1) return status;
  const std::size_t half = generations.size() / 2;
  status = decode_in_parts(backend, generations.first(half), seconds);
  if (!status.ok()) return status;
  return decode_in_parts(backend, generations.subspan(half), seconds);
}

void SharedBackend::failed(Member& member, const ShapeKey& shape, const BackendStatus& status) {
  if (status.code == BackendStatus::Code::kUnsupported) {
    member.costs[shape].unsupported = true;
    return;
  }
  drop(member, status);
}

void SharedBackend::drop(const Member& member, const BackendStatus& status) {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const auto& device) { return device.get() == &member; });
  if (found == devices_.end()) return;
  const std::unique_ptr<Member> gone = std::move(*found);
  devices_.erase(found);
  if (dropped_) dropped_(gone->backend->name(), status.detail);
}

// --- encoding ---

// The device that keeps this generation, or the CPU where it is faster.
SharedBackend::Member* SharedBackend::encoder_for(const EncodeWork& work) {
  const ShapeKey shape{work.generation_size, work.block_bytes};
  std::vector<Member*> able = candidates(shape);
  if (able.front() == &cpu_) return &cpu_;
  const bool measured = able.back() == &cpu_;
  if (measured) able.pop_back();
  Member* const device = able[work.generation_key % able.size()];
  if (!measured) return device;
  Cost& on_device = device->costs[shape].encode;
  Cost& on_cpu = cpu_.costs[shape].encode;
  const std::size_t rows = work.out.size();
  const bool by_cpu =
      on_device.measured.known() &&
      (!on_cpu.measured.known() || on_cpu.estimate(rows) < on_device.estimate(rows));
  (by_cpu ? on_cpu : on_device).eagerness = 1;
  (by_cpu ? on_device : on_cpu).eagerness *= kEagernessStep;
  return by_cpu ? &cpu_ : device;
}

BackendStatus SharedBackend::encode(const EncodeWork& work) {
  if (work.out.empty()) return {};
  const ShapeKey shape{work.generation_size, work.block_bytes};
  for (;;) {
    Member* const member = work.source.empty() ? keeper_of(work.generation_key) : encoder_for(work);
    if (member == nullptr)
      return {BackendStatus::Code::kUnsupported, "no source blocks, and none are kept"};
    BackendStatus status;
    const double seconds = timer_([&] { status = member->backend->encode(work); });
    if (!status.ok()) {
      if (member == &cpu_) return status;
      failed(*member, shape, status);
      continue;
    }
    member->costs[shape].encode.measured.add(work.out.size(), seconds);
    (member == &cpu_ ? counts_.encoded_by_cpu : counts_.encoded_by_devices) += work.out.size();
    if (member != &cpu_) counts_.by_device[member->index].encoded += work.out.size();
    return status;
  }
}

SharedBackend::Member* SharedBackend::keeper_of(std::uint64_t generation_key) const {
  const auto found = std::find_if(devices_.begin(), devices_.end(), [&](const auto& device) {
    return device->backend->keeps(generation_key);
  });
  return found == devices_.end() ? nullptr : found->get();
}

bool SharedBackend::keeps(std::uint64_t generation_key) const {
  return keeper_of(generation_key) != nullptr;
}

// --- sums ---

BackendStatus SharedBackend::make_sums(std::span<SumsWork> works) {
  for (std::size_t i = 0; i < devices_.size();) {
    const Member& device = *devices_[i];
    const BackendStatus status = device.backend->make_sums(works);
    // One that cannot hash, or has no memory for it now, may still code.
    if (status.code == BackendStatus::Code::kFailed) {
      drop(device, status);
    } else {
      ++i;
    }
  }
  return {};
}

// --- what devices keep ---

std::size_t SharedBackend::kept_bytes_max() const {
  std::size_t bytes = 0;
  for (const auto& device : devices_) bytes += device->backend->kept_bytes_max();
  return bytes;
}

void SharedBackend::forget(std::uint64_t generation_key) {
  for (const auto& device : devices_) device->backend->forget(generation_key);
}

}  // namespace firn::codec
