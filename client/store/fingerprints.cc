#include "client/store/fingerprints.h"

#include <algorithm>
#include <chrono>

#include "client/checks/set_key.h"
#include "codec/check_key.h"
#include "proto/base/digest.h"
#include "proto/base/stage_times.h"

namespace firn::store {

struct Fingerprints::Keys {
  codec::CheckKey of_blocks, of_tags;

  static Keys draw(const Shape& shape) {
    const checks::SetKey secret = checks::SetKey::draw();
    return {secret.generation_key(0, shape.block_bytes, kBytes),
            secret.generation_key(1, std::size_t{shape.generation_size} * kBytes, kBytes)};
  }

  // `data`: at most a generation, in whole blocks. A generation always has as many, so that zeros
  // may stand for those that a short one lacks.
  Fingerprint of(std::span<const std::uint8_t> data) const {
    const StageScope hashing(Stage::kHash);
    codec::SecretVector<std::uint8_t> tags(of_tags.block_bytes());
    const std::size_t k = of_blocks.block_bytes();
    for (std::size_t i = 0; i < data.size() / k; ++i)
      of_blocks.hash(data.subspan(i * k, k), std::span(tags).subspan(i * kBytes, kBytes));
    Fingerprint result(kBytes);
    of_tags.hash(tags, result);
    return result;
  }
};

namespace {

// Of the fastest of a few: others use the processor too.
template <class Work>
std::chrono::nanoseconds time_of(const Work& work) {
  using Clock = std::chrono::steady_clock;
  auto best = std::chrono::nanoseconds::max();
  for (int i = 0; i < 4; ++i) {
    const Clock::time_point began = Clock::now();
    work();
    best = std::min<std::chrono::nanoseconds>(best, Clock::now() - began);
  }
  return best;
}

// Of sixteen blocks digests are made at once (proto/base/digest.h).
constexpr std::size_t kTimedBlocks = 16, kTimedBytes = std::size_t{1} << 20;
// Each generation that is verified costs a fingerprint, also if it is never read back.
constexpr int kCheaper = 4;

}  // namespace

Fingerprints::Fingerprints(const Shape& shape, Fingerprinting when) : shape_(shape), when_(when) {}

Fingerprints::~Fingerprints() = default;

bool Fingerprints::pay(const Keys& keys) const {
  if (when_ != Fingerprinting::kWhereCheaper) return when_ == Fingerprinting::kAlways;
  const std::size_t k = shape_.block_bytes;
  const std::size_t blocks =
      std::min<std::size_t>({std::max<std::size_t>(kTimedBytes / k, 1), kTimedBlocks,
                             std::size_t{shape_.generation_size}});
  const std::vector<std::uint8_t> some(blocks * k, 1);
  const auto digest = time_of([&] { (void)generation_digest(some, k); });
  const auto fingerprint = time_of([&] { (void)keys.of(some); });
  return kCheaper * fingerprint <= digest;
}

const Fingerprints::Keys* Fingerprints::keys() const {
  std::call_once(drawn_, [this] {
    auto keys = std::make_unique<const Keys>(Keys::draw(shape_));
    if (pay(*keys)) keys_ = std::move(keys);
  });
  return keys_.get();
}

Fingerprints::Fingerprint Fingerprints::of(std::span<const std::uint8_t> data) const {
  const Keys* const keys = this->keys();
  return keys == nullptr ? Fingerprint() : keys->of(data);
}

void Fingerprints::keep(std::uint32_t generation, const Fingerprint& fingerprint) {
  if (fingerprint.empty()) return;
  const std::lock_guard lock(mutex_);
  if (kept_.empty()) {
    kept_.resize(std::size_t{shape_.generation_count()} * kBytes);
    has_.resize(shape_.generation_count(), false);
  }
  std::ranges::copy(fingerprint, kept_.begin() + std::ptrdiff_t{generation} * kBytes);
  has_[generation] = true;
}

bool Fingerprints::match(std::uint32_t generation, std::span<const std::uint8_t> data) const {
  {
    const std::lock_guard lock(mutex_);
    if (has_.empty() || !has_[generation]) return false;
  }
  const Fingerprint found = keys()->of(data);
  const std::lock_guard lock(mutex_);
  const auto kept = std::span(kept_).subspan(std::size_t{generation} * kBytes, kBytes);
  unsigned difference = 0;  // of all bytes, so that the time tells nothing
  for (std::size_t i = 0; i < kBytes; ++i) difference |= found[i] ^ kept[i];
  return difference == 0;
}

}  // namespace firn::store
