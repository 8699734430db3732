#include "codec/check_sums.h"

#include <cassert>

namespace firn::codec {

CheckSums::CheckSums(const CheckKey& key, std::span<const std::uint8_t* const> source_blocks)
    : tag_bytes_(key.tag_bytes()),
      kernels_(&key.kernels()),
      bytes_(source_blocks.size() * key.tag_bytes()) {
  key.hash_rows(source_blocks, bytes_);
}

CheckSums::CheckSums(std::size_t tag_bytes, std::span<const std::uint8_t> bytes,
                     const CheckKernels& kernels)
    : tag_bytes_(tag_bytes), kernels_(&kernels), bytes_(bytes.begin(), bytes.end()) {
  assert(CheckKey::valid_tag_bytes(tag_bytes) && bytes.size() % tag_bytes == 0);
}

void CheckSums::combine(std::span<const std::uint8_t> vector, std::span<std::uint8_t> tag) const {
  assert(vector.size() == generation_size() && tag.size() == tag_bytes_);
  kernels_->weigh(tag.data(), bytes_.data(), tag_bytes_, vector.data(), vector.size());
}

bool accepts(const CheckKey& key, const CheckSums& sums, std::span<const std::uint8_t> vector,
             std::span<const std::uint8_t> payload) {
  assert(key.tag_bytes() == sums.tag_bytes());
  constexpr std::size_t kTagBytesMax = 16;
  std::uint8_t found[kTagBytesMax], expected[kTagBytesMax];
  key.hash(payload, {found, key.tag_bytes()});
  sums.combine(vector, {expected, sums.tag_bytes()});
  unsigned difference = 0;
  for (std::size_t j = 0; j < key.tag_bytes(); ++j) difference |= found[j] ^ expected[j];
  wipe(found, sizeof found);
  wipe(expected, sizeof expected);
  return difference == 0;
}

}  // namespace firn::codec
