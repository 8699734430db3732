#include "client/medium/label.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/base/little_endian.h"

namespace firn::medium {
namespace {

constexpr char kMagic[] = "FIRNMED1";
constexpr std::size_t kMagicBytes = 8, kCheckOffset = kLabelBytes - 4;
constexpr double kRateUnit = 1e-9;
// What decoding costs grows with the rates; nothing planned is beyond.
constexpr double kRateMax = 0.2;

std::uint32_t units(double rate) {
  return static_cast<std::uint32_t>(std::lround(rate / kRateUnit));
}

// The first bytes of the digest of all before them.
std::uint32_t check_of(std::span<const std::uint8_t> bytes) {
  return get_field<std::uint32_t>(sha256(bytes.first(kCheckOffset)).bytes, 0);
}

Error broken(const std::string& rule) {
  return {ErrorCode::kBadInput, "read a label of the medium", rule};
}

Status check_rules(const Label& label) {
  const InnerShape& inner = label.inner;
  if (inner.codeword_bits < 2 || inner.codeword_bits > 16) return broken("codeword bits");
  if (!std::has_single_bit(inner.alphabet) || inner.alphabet < 2 || inner.alphabet > 256 ||
      inner.alphabet > 1u << inner.codeword_bits)
    return broken("alphabet");
  if (inner.distance > 8) return broken("indel distance");
  if (label.data_bytes <= Label::kFrameHeaderBytes || label.data_bytes >= label.word_bytes)
    return broken("Reed-Solomon code");
  if (label.frames_per_group == 0 || label.groups_per_label == 0) return broken("groups");
  const Rates& rates = label.planned;
  if (rates.insertion > kRateMax || rates.deletion > kRateMax || rates.substitution > 0.5)
    return broken("rates");
  if (label.manifest_bytes == 0 || label.manifest_bytes > limits::kManifestBytesMax)
    return broken("manifest size");
  if (label.block_bytes == 0 || label.block_bytes > limits::kBlockBytesMax)
    return broken("block size");
  if (label.spare.rows > (1 << 16) || label.spare.permille > 100'000) return broken("spare rows");
  // A place is four bytes of a frame.
  if (label.place_count == 0 || label.place_count > 0xffffffff) return broken("place count");
  if (label.group > label.group_count()) return broken("group");
  return Done{};
}

}  // namespace

bool Label::same_medium(const Label& other) const {
  Label a = *this, b = other;
  a.group = b.group = 0;
  return label_to_bytes(a) == label_to_bytes(b);
}

std::vector<std::uint8_t> label_to_bytes(const Label& label) {
  std::vector<std::uint8_t> bytes(kLabelBytes);
  std::memcpy(bytes.data(), kMagic, kMagicBytes);
  std::memcpy(bytes.data() + 8, label.content.bytes.data(), kIdBytes);
  put_field(bytes, 40, label.inner.seed);
  put_field(bytes, 44, label.inner.alphabet);
  put_field(bytes, 46, label.inner.codeword_bits);
  put_field(bytes, 47, label.inner.distance);
  put_field(bytes, 48, label.word_bytes);
  put_field(bytes, 49, label.data_bytes);
  put_field(bytes, 50, label.frames_per_group);
  put_field(bytes, 51, label.groups_per_label);
  put_field(bytes, 52, units(label.planned.insertion));
  put_field(bytes, 56, units(label.planned.deletion));
  put_field(bytes, 60, units(label.planned.substitution));
  put_field(bytes, 64, label.manifest_bytes);
  put_field(bytes, 68, label.block_bytes);
  put_field(bytes, 72, label.spare.rows);
  put_field(bytes, 76, label.spare.permille);
  put_field(bytes, 80, label.place_count);
  put_field(bytes, 88, label.group);
  // 96 to 111: zero, for later versions.
  put_field(bytes, kCheckOffset, check_of(bytes));
  return bytes;
}

Result<Label> label_from_bytes(std::span<const std::uint8_t> bytes) {
  FIRN_CHECK(bytes.size() == kLabelBytes);
  if (std::memcmp(bytes.data(), kMagic, kMagicBytes) != 0) return broken("not a label");
  if (get_field<std::uint32_t>(bytes, kCheckOffset) != check_of(bytes)) return broken("check sum");
  Label label;
  std::memcpy(label.content.bytes.data(), bytes.data() + 8, kIdBytes);
  label.inner.seed = get_field<std::uint32_t>(bytes, 40);
  label.inner.alphabet = get_field<std::uint16_t>(bytes, 44);
  label.inner.codeword_bits = bytes[46];
  label.inner.distance = bytes[47];
  label.word_bytes = bytes[48];
  label.data_bytes = bytes[49];
  label.frames_per_group = bytes[50];
  label.groups_per_label = bytes[51];
  label.planned.insertion = get_field<std::uint32_t>(bytes, 52) * kRateUnit;
  label.planned.deletion = get_field<std::uint32_t>(bytes, 56) * kRateUnit;
  label.planned.substitution = get_field<std::uint32_t>(bytes, 60) * kRateUnit;
  label.manifest_bytes = get_field<std::uint32_t>(bytes, 64);
  label.block_bytes = get_field<std::uint32_t>(bytes, 68);
  label.spare.rows = get_field<std::uint32_t>(bytes, 72);
  label.spare.permille = get_field<std::uint32_t>(bytes, 76);
  label.place_count = get_field<std::uint64_t>(bytes, 80);
  label.group = get_field<std::uint64_t>(bytes, 88);
  if (const Status right = check_rules(label); !right.ok()) return right.error();
  return label;
}

}  // namespace firn::medium
