// The tags s_i = H(b_i) of the n source blocks of a generation under one CheckKey ("sums"), by
// which the holder of that key tells true coded blocks from false ones. Made by a peer that has the
// source blocks, sent to the holder of the key as n * t bytes; as secret as the key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/check_key.h"
#include "codec/secret_memory.h"

namespace firn::codec {

// Memory is wiped at the end. The const members are for any thread.
class CheckSums {
 public:
  // The sums of these blocks: n pointers to key.block_bytes() bytes each.
  CheckSums(const CheckKey& key, std::span<const std::uint8_t* const> source_blocks);
  // As another peer made them: n * tag_bytes bytes, copied. Whether they are true is not known.
  CheckSums(std::size_t tag_bytes, std::span<const std::uint8_t> bytes,
            const CheckKernels& kernels = check_kernels());

  std::size_t generation_size() const { return bytes_.size() / tag_bytes_; }
  std::size_t tag_bytes() const { return tag_bytes_; }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

  // tag (t bytes) = sum_i vector[i] s_i, what H of a true payload is; vector: n coefficients.
  void combine(std::span<const std::uint8_t> vector, std::span<std::uint8_t> tag) const;

 private:
  std::size_t tag_bytes_;
  const CheckKernels* kernels_;
  SecretVector<std::uint8_t> bytes_;
};

// Whether H(payload) = sum_i vector[i] s_i: always if payload is that combination of the source
// blocks that the sums were made from, else with the odds at CheckKey. vector: n coefficients,
// payload: key.block_bytes() bytes; key and sums have tags of the same length. Takes the same time
// whatever the outcome.
bool accepts(const CheckKey& key, const CheckSums& sums, std::span<const std::uint8_t> vector,
             std::span<const std::uint8_t> payload);

}  // namespace firn::codec
