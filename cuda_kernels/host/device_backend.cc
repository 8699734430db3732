#include "cuda_kernels/host/device_backend.h"

#include <algorithm>
#include <cstring>

#include "codec/secret_memory.h"

namespace firn::cuda {
namespace {

constexpr std::uint64_t kNobody = UINT64_MAX;  // a key for prepare() alone

}  // namespace

Status DeviceBackend::open() {
  if (opened_) return {};
  if (Status s = stream_.open(device_); !s.ok()) return s;
  if (Status s = codec_.open(device_, options_.work_bytes); !s.ok()) return s;
  opened_ = true;
  return {};
}

// Memory only grows: shapes are few, and taking pinned memory is slow.
Status DeviceBackend::reserve(PinnedMemory& memory, std::size_t bytes) {
  return memory.size() >= bytes ? Status{} : memory.allocate(device_, bytes);
}

Status DeviceBackend::reserve(DeviceMemory& memory, std::size_t bytes) {
  return memory.size() >= bytes ? Status{} : memory.allocate(device_, bytes);
}

// The first use of a kernel loads it, and the first of a buffer takes it: a generation of unit
// vectors goes through both ways once, so that this is not measured as coding.
void DeviceBackend::prepare(std::size_t generation_size, std::size_t block_bytes) {
  const std::size_t n = generation_size, k = block_bytes;
  if (n < 1 || n > kGenerationSizeMax) return;
  std::vector<std::uint8_t> identity(n * n), block(k), decoded(n * k);
  std::vector<const std::uint8_t*> vectors(n), payloads(n, block.data());
  for (std::size_t i = 0; i < n; ++i) {
    identity[i * n + i] = 1;
    vectors[i] = &identity[i * n];
  }
  codec::GenerationWork work{n, k, vectors, payloads, decoded};
  if (!decode({&work, 1}).ok()) return;
  std::uint8_t* const out = block.data();
  (void)encode({kNobody, n, k, decoded, std::span(identity).first(n), {&out, 1}});
  forget(kNobody);
}

// --- decoding ---

Status DeviceBackend::decode(std::span<codec::GenerationWork> generations) {
  if (generations.empty()) return {};
  const std::size_t n = generations[0].generation_size, k = generations[0].block_bytes;
  if (n > kGenerationSizeMax) return {Code::kUnsupported, "more than 1024 blocks"};
  if (Status s = open(); !s.ok()) return s;
  const std::size_t at_once = std::max<std::size_t>(1, options_.batch_bytes / (n * k));
  for (std::size_t g = 0; g < generations.size(); g += at_once) {
    const std::size_t count = std::min(at_once, generations.size() - g);
    if (Status s = decode_batch(generations.subspan(g, count)); !s.ok()) return s;
  }
  return {};
}

Status DeviceBackend::decode_batch(std::span<codec::GenerationWork> generations) {
  const std::size_t n = generations[0].generation_size, k = generations[0].block_bytes;
  const std::size_t count = generations.size();
  if (Status s = reserve(vectors_, count * n * n); !s.ok()) return s;
  if (Status s = reserve(in_, count * n * k); !s.ok()) return s;
  if (Status s = reserve(out_, count * n * k); !s.ok()) return s;
  // In pieces of a few dozen rows, so that a single generation has work for all copiers.
  constexpr std::size_t kRows = 64;
  const std::size_t pieces = (n + kRows - 1) / kRows;
  copiers_.run(count * pieces, [&](std::size_t i) {
    const std::size_t g = i / pieces, first = i % pieces * kRows;
    for (std::size_t r = first; r < std::min(n, first + kRows); ++r) {
      std::memcpy(vectors_.data() + (g * n + r) * n, generations[g].vectors[r], n);
      std::memcpy(in_.data() + (g * n + r) * k, generations[g].payloads[r], k);
    }
  });
  std::vector<std::uint32_t> ranks(count);
  const Shape shape{count, n, n, k};
  if (Status s =
          codec_.decode(shape, vectors_.data(), in_.data(), out_.data(), {ranks.data(), nullptr});
      !s.ok())
    return s;
  copiers_.run(count * pieces, [&](std::size_t i) {
    const std::size_t g = i / pieces, first = i % pieces * kRows;
    if (ranks[g] != n) return;
    const std::size_t rows = std::min(n, first + kRows) - first;
    std::memcpy(generations[g].out.data() + first * k, out_.data() + (g * n + first) * k, rows * k);
  });
  for (std::size_t g = 0; g < count; ++g) generations[g].decoded = ranks[g] == n;
  return {};
}

// --- encoding ---

Status DeviceBackend::encode(const codec::EncodeWork& work) {
  if (work.generation_size > kGenerationSizeMax)
    return {Code::kUnsupported, "more than 1024 blocks"};
  if (work.out.empty()) return {};
  if (Status s = open(); !s.ok()) return s;
  return encode_resident(work);
}

Status DeviceBackend::encode_resident(const codec::EncodeWork& work) {
  const std::size_t n = work.generation_size, k = work.block_bytes, m = work.out.size();
  const std::size_t pitch = fast_pitch(k);
  std::uint8_t* blocks = nullptr;
  if (Status s = make_resident(work, blocks); !s.ok()) return s;
  const Shape shape{1, n, m, k};
  const ScratchSize scratch = product_scratch(device_, shape);
  if (Status s = reserve(coefficients_, m * n); !s.ok()) return s;
  if (Status s = reserve(made_, m * pitch); !s.ok()) return s;
  if (Status s = reserve(scratch_, scratch.best); !s.ok()) return s;
  if (Status s = reserve(vectors_, m * n); !s.ok()) return s;
  if (Status s = reserve(out_, m * k); !s.ok()) return s;

  std::memcpy(vectors_.data(), work.vectors.data(), m * n);
  Status s = stream_.copy_in(coefficients_.data(), vectors_.data(), m * n);
  if (s.ok()) {
    s = launch_product(stream_, shape, coefficients_.data(), {blocks, pitch}, {made_.data(), pitch},
                       {scratch_.data(), scratch_.size()});
  }
  if (s.ok()) s = stream_.copy_rows_out(out_.data(), k, made_.data(), pitch, k, m);
  const Status waited = stream_.wait();  // also after an error: memory is in use until then
  if (!s.ok() || !waited.ok()) return s.ok() ? waited : s;
  for (std::size_t r = 0; r < m; ++r) std::memcpy(work.out[r], out_.data() + r * k, k);
  return {};
}

// The generation's blocks on the device, brought there if they are not; those used longest ago make
// room, and their memory is used again where it fits.
Status DeviceBackend::make_resident(const codec::EncodeWork& work, std::uint8_t*& blocks) {
  const auto found = by_key_.find(work.generation_key);
  if (found != by_key_.end()) {
    residents_.splice(residents_.begin(), residents_, found->second);
    blocks = found->second->blocks.data();
    return {};
  }
  const std::size_t n = work.generation_size, k = work.block_bytes;
  if (work.source.size() != n * k) return unsupported("no source blocks, and none are kept");
  const std::size_t pitch = fast_pitch(k), bytes = n * pitch;
  DeviceMemory memory;
  const auto drop_oldest = [&] {
    by_key_.erase(residents_.back().key);
    resident_bytes_ -= residents_.back().blocks.size();
    memory = std::move(residents_.back().blocks);
    residents_.pop_back();
  };
  while (!residents_.empty() && resident_bytes_ + bytes > options_.resident_bytes) drop_oldest();
  while (memory.size() != bytes) {
    const Status taken = memory.allocate(device_, bytes);
    if (taken.ok()) break;
    if (taken.code != Code::kOutOfMemory || residents_.empty()) return taken;
    drop_oldest();
  }
  if (Status s = reserve(in_, std::max(k, std::min(n * k, options_.batch_bytes))); !s.ok())
    return s;
  const std::size_t rows_at_once = std::max<std::size_t>(1, in_.size() / k);
  for (std::size_t first = 0; first < n; first += rows_at_once) {
    const std::size_t rows = std::min(rows_at_once, n - first);
    std::memcpy(in_.data(), work.source.data() + first * k, rows * k);
    Status s = stream_.copy_rows_in(memory.data() + first * pitch, pitch, in_.data(), k, k, rows);
    const Status waited = stream_.wait();
    if (!s.ok() || !waited.ok()) return s.ok() ? waited : s;
  }
  residents_.push_front({work.generation_key, std::move(memory)});
  by_key_[work.generation_key] = residents_.begin();
  resident_bytes_ += bytes;
  blocks = residents_.front().blocks.data();
  return {};
}

// --- sums ---

Status DeviceBackend::make_sums(std::span<codec::SumsWork> works) {
  std::vector<codec::SumsWork*> kept;
  for (codec::SumsWork& work : works) {
    if (!work.made && keeps(work.generation_key)) kept.push_back(&work);
  }
  if (kept.empty()) return {};
  const Status status = hash_residents(kept);
  if (!status.ok()) return status;
  for (codec::SumsWork* work : kept) work->made = true;
  return {};
}

// Keys go in with one copy and sums come out with one: sums stand behind the keys, in the same
// order. Material has a multiple of 16 bytes, sums one of 4.
Status DeviceBackend::hash_residents(std::span<codec::SumsWork* const> works) {
  std::size_t key_bytes = 0, bytes = 0;
  for (const codec::SumsWork* work : works) key_bytes += work->material.size();
  bytes = key_bytes;
  for (const codec::SumsWork* work : works) bytes += work->sums.size();
  if (Status s = reserve(secrets_, bytes); !s.ok()) return s;
  if (Status s = reserve(device_secrets_, bytes); !s.ok()) return s;
  std::uint8_t* const secrets = secrets_.data();
  std::uint8_t* const on_device = device_secrets_.data();

  std::size_t at = 0, sums_at = key_bytes;
  for (const codec::SumsWork* work : works) {
    std::memcpy(secrets + at, work->material.data(), work->material.size());
    at += work->material.size();
  }
  Status s = stream_.copy_in(on_device, secrets, key_bytes);
  at = 0;
  for (const codec::SumsWork* work : works) {
    const std::size_t n = work->generation_size, k = work->block_bytes;
    const std::uint8_t* blocks = by_key_.at(work->generation_key)->blocks.data();
    if (s.ok()) {
      s = launch_tags(stream_, {1, n, 0, k}, work->tag_bytes, on_device + at,
                      {blocks, fast_pitch(k)}, on_device + sums_at);
    }
    at += work->material.size();
    sums_at += work->sums.size();
  }
  if (s.ok()) s = stream_.copy_out(secrets + key_bytes, on_device + key_bytes, bytes - key_bytes);
  const Status wiped = stream_.fill(on_device, 0, bytes);
  const Status waited = stream_.wait();  // also after an error: memory is in use until then
  sums_at = key_bytes;
  for (codec::SumsWork* work : works) {
    std::memcpy(work->sums.data(), secrets + sums_at, work->sums.size());
    sums_at += work->sums.size();
  }
  codec::wipe(secrets, bytes);
  if (!s.ok()) return s;
  return wiped.ok() ? waited : wiped;
}

void DeviceBackend::forget(std::uint64_t generation_key) {
  const auto found = by_key_.find(generation_key);
  if (found == by_key_.end()) return;
  resident_bytes_ -= found->second->blocks.size();
  residents_.erase(found->second);
  by_key_.erase(found);
}

}  // namespace firn::cuda
