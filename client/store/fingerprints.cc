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

template <class Work>
std::chrono::nanoseconds time_of(const Work& work) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  work();
  return Clock::now() - began;
}

}  // namespace

FingerprintCosts& costs_here() {
  static FingerprintCosts costs([](const Shape& shape, std::size_t blocks) {
    const auto keys = Fingerprints::Keys::draw(shape);
    const std::vector<std::uint8_t> some(blocks * shape.block_bytes, 1);
    return FingerprintCosts::Times{time_of([&] { (void)keys.of(some); }), time_of([&] {
                                     (void)generation_digest(some, shape.block_bytes);
                                   })};
  });
  return costs;
}

Fingerprints::Fingerprints(const Shape& shape, Fingerprinting when, FingerprintCosts& costs)
    : shape_(shape), when_(when), costs_(costs) {}

Fingerprints::~Fingerprints() = default;

bool Fingerprints::pay() const {
  return when_ == Fingerprinting::kWhereCheaper ? costs_.pay(shape_)
                                                : when_ == Fingerprinting::kAlways;
}

const Fingerprints::Keys* Fingerprints::keys() const {
  std::call_once(drawn_, [this] {
    if (pay()) keys_ = std::make_unique<const Keys>(Keys::draw(shape_));
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
