// The secret key of a block check: a hash H of payloads that is linear over GF(2^8) and, as long as
// the key is secret, tells false blocks of one generation from true ones. A coded block (c, x) of
// the source blocks b_0..b_{n-1} is accepted if H(x) = sum_i c_i H(b_i) (codec/check_sums.h), so
// the receiver of any recoding can check it with n tags of t bytes and without the source blocks.
//
// H : K^k -> K^t with K = GF(2^8). The key is G = ceil(k / 128) words r_i of 128 bits and a table T
// of 256 rows of t bytes:
//     X_i(z) = sum_{a < 128} x[128 i + a] z^(127 - a)     in K[z]; bytes past k are 0
//     R_i(z) = sum_{b < 128} bit_b(r_i) z^b               in GF(2)[z]
//     Y(z)   = sum_i X_i(z) R_i(z) = sum_d Y_d z^d        degree <= 254, never reduced
//     H_j    = sum_d T[d][j] Y_d                          j = 0..t-1
// R_i has coefficients 0 and 1, so it multiplies each of the eight bit planes of the payload alone:
// a carry-less product, whatever polynomial makes the field. Row 255 of T is never used.
//
// Odds that a false block passes, over the choice of the key: at most 2^-128 + 2^-8t for each block
// and set of sums that were fixed before the key was drawn, or without knowledge of it. Let e be
// the payload less the true combination, not zero. Some bit plane p of e has a 128-byte group with
// p_i(z) != 0. Given the other words, p_i r_i must be one certain polynomial for the plane's sum to
// vanish; r_i -> p_i r_i is injective over GF(2)[z], so one r_i of 2^128 does that at most. If Y(e)
// has a coefficient Y_d != 0, T[d][j] Y_d is uniform and independent for each j, so H(e) = 0 with
// probability 2^-8t. A peer that sees which of its blocks pass gains one guess a block.
// (Linear hashes against pollution: Gkantsidis and Rodriguez, "Cooperative security for network
// coding file distribution", INFOCOM 2006; this one is Firn's own.)
//
// Key and tags are secrets: they stand in memory that is wiped (codec/secret_memory.h). hash()
// wipes Y as well; what a kernel sums it up in stays on the stack until that is used again. No
// branch depends on them. Draw fresh key material for each generation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/kernels.h"
#include "codec/secret_memory.h"

namespace firn::codec {

// Move-only; a key that was moved from can only be assigned to or destroyed. The const members are
// for any thread.
class CheckKey {
 public:
  static constexpr std::size_t kGroupBytes = 128, kWordBytes = 16, kTableRows = 256;
  static constexpr std::size_t kTagBytes = 8;  // odds of forgery 2^-64

  // Tags have 4, 8 or 16 bytes.
  static constexpr bool valid_tag_bytes(std::size_t tag_bytes) {
    return tag_bytes == 4 || tag_bytes == 8 || tag_bytes == 16;
  }
  // Uniform bytes that a key is made from: the words, little-endian, then T row by row.
  static constexpr std::size_t material_bytes(std::size_t block_bytes, std::size_t tag_bytes) {
    return (block_bytes + kGroupBytes - 1) / kGroupBytes * kWordBytes + kTableRows * tag_bytes;
  }

  // block_bytes: k, at least 1. material: material_bytes() bytes, copied; the caller wipes its own.
  CheckKey(std::size_t block_bytes, std::size_t tag_bytes, std::span<const std::uint8_t> material,
           const CheckKernels& kernels = check_kernels());
  CheckKey(CheckKey&&) = default;
  CheckKey& operator=(CheckKey&&) = default;

  std::size_t block_bytes() const { return block_bytes_; }
  std::size_t tag_bytes() const { return tag_bytes_; }
  const CheckKernels& kernels() const { return *kernels_; }

  // tag (t bytes) = H(payload). payload: k bytes, any alignment (64 is fastest).
  void hash(std::span<const std::uint8_t> payload, std::span<std::uint8_t> tag) const;
  // tags[i * t ..] = H(payloads[i]); tags has payloads.size() * t bytes, each payload k.
  void hash_rows(std::span<const std::uint8_t* const> payloads, std::span<std::uint8_t> tags) const;

 private:
  std::size_t block_bytes_, tag_bytes_;
  const CheckKernels* kernels_;
  SecretVector<CheckWord> words_;
  SecretVector<std::uint8_t> table_;
};

}  // namespace firn::codec
