// Keyed fingerprints of generations that were verified: what is read from a file again is compared
// with what was verified, for a tenth (bytes in the processor's caches) to a fifth (others) of what
// its digest costs (docs/lab/076).
//
// A relay reads back most of what it has just decoded, hashed and written, and cannot go by the
// times of its files, as it writes into them all the while (hash_memory.h). The fingerprint is that
// of block checks (codec/check_key.h), twice over:
//     t_i = H_1(b_i) of each block, 16 bytes;    F = H_2(t_0 || ... || t_{n-1}), 16 bytes
// with keys that are drawn for each content that is opened, and that no one is told, nor any
// fingerprint; both stand in memory that is wiped (codec/secret_memory.h). Bytes that are not those
// verified have the same fingerprint with odds of at most 2^-126 (twice 2^-128 + 2^-128), whatever
// was done to the file: it was done without the keys.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "client/store/fingerprint_costs.h"
#include "codec/secret_memory.h"
#include "proto/content/shape.h"

namespace firn::store {

// When generations have fingerprints.
enum class Fingerprinting : std::uint8_t {
  kWhereCheaper,  // where they cost much less than digests on this machine (fingerprint_costs.h)
  kAlways,        // in tests
  kNever,
};

// Of this process's machine.
FingerprintCosts& costs_here();

// Any thread, also at once and for the same generation: the background check (client/app/coding)
// reads what others read for neighbours.
class Fingerprints {
 public:
  // 16 bytes, or none where they do not pay.
  using Fingerprint = codec::SecretVector<std::uint8_t>;

  // `costs` is kept by reference.
  Fingerprints(const Shape& shape, Fingerprinting when, FingerprintCosts& costs = costs_here());
  ~Fingerprints();

  // Of a generation's bytes (Shape::padded_bytes). They need not be verified yet: it is made before
  // they are, and kept if they are right.
  Fingerprint of(std::span<const std::uint8_t> data) const;
  void keep(std::uint32_t generation, const Fingerprint& fingerprint);
  // Whether these are the bytes whose fingerprint was kept. False too if none was.
  bool match(std::uint32_t generation, std::span<const std::uint8_t> data) const;

 private:
  friend FingerprintCosts& costs_here();
  static constexpr std::size_t kBytes = 16;
  struct Keys;

  // Null: they do not pay. Drawn at the first use, as not every content that is opened is read.
  const Keys* keys() const;
  bool pay() const;

  const Shape shape_;
  const Fingerprinting when_;
  FingerprintCosts& costs_;
  mutable std::once_flag drawn_;
  mutable std::unique_ptr<const Keys> keys_;

  mutable std::mutex mutex_;
  Fingerprint kept_;  // of all generations, one after another; empty before the first
  std::vector<bool> has_;
};

}  // namespace firn::store
