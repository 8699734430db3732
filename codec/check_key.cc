#include "codec/check_key.h"

#include <cassert>

namespace firn::codec {
namespace {

std::uint64_t little_endian_word(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  for (unsigned i = 8; i-- > 0;) word = word << 8 | bytes[i];
  return word;
}

}  // namespace

CheckKey::CheckKey(std::size_t block_bytes, std::size_t tag_bytes,
                   std::span<const std::uint8_t> material, const CheckKernels& kernels)
    : block_bytes_(block_bytes), tag_bytes_(tag_bytes), kernels_(&kernels) {
  assert(block_bytes > 0 && valid_tag_bytes(tag_bytes));
  assert(material.size() == material_bytes(block_bytes, tag_bytes));
  const std::size_t table_bytes = kTableRows * tag_bytes;
  const auto words = material.first(material.size() - table_bytes);
  words_.reserve(words.size() / kWordBytes);
  for (std::size_t at = 0; at < words.size(); at += kWordBytes) {
    const std::uint64_t low = little_endian_word(&words[at]);
    const std::uint64_t high = little_endian_word(&words[at + 8]);
    words_.push_back({low, high, low ^ high});
  }
  const auto table = material.last(table_bytes);
  table_.assign(table.begin(), table.end());
}

void CheckKey::hash(std::span<const std::uint8_t> payload, std::span<std::uint8_t> tag) const {
  assert(payload.size() == block_bytes_ && tag.size() == tag_bytes_);
  alignas(64) std::uint8_t y[kTableRows];
  kernels_->convolve(y, words_.data(), payload.data(), payload.size());
  kernels_->weigh(tag.data(), table_.data(), tag_bytes_, y, kTableRows);
  wipe(y, sizeof y);
}

void CheckKey::hash_rows(std::span<const std::uint8_t* const> payloads,
                         std::span<std::uint8_t> tags) const {
  assert(tags.size() == payloads.size() * tag_bytes_);
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    hash({payloads[i], block_bytes_}, tags.subspan(i * tag_bytes_, tag_bytes_));
  }
}

}  // namespace firn::codec
