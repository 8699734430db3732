// A medium's label: all that a reader must know before it can read frames, in 116 bytes that are
// coded so that they survive where frames do not. A medium has many copies of it, each of which
// also says which group of frames follows. Byte layout: docs/formats.md, "Medium".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "client/medium/rows.h"
#include "proto/base/ids.h"
#include "proto/base/result.h"

namespace firn::medium {

// Probabilities of the medium's channel, for each bit (codec/sync/channel.h).
struct Rates {
  double insertion = 0, deletion = 0, substitution = 0;
  bool operator==(const Rates&) const = default;
};

// The time-varying block code of the frames: n, q, and how its codebooks are made.
struct InnerShape {
  std::uint8_t codeword_bits = 8;  // n
  std::uint16_t alphabet = 16;     // q, a power of two
  std::uint8_t distance = 4;       // indel distance within a codebook; 0: random codebooks
  std::uint32_t seed = 1;
  bool operator==(const InnerShape&) const = default;
};

struct Label {
  ContentId content;
  InnerShape inner;
  Rates planned;
  std::uint8_t word_bytes = 255;  // n of the frames' Reed-Solomon code
  std::uint8_t data_bytes = 239;  // its k
  std::uint8_t frames_per_group = 8;
  std::uint8_t groups_per_label = 64;
  std::uint32_t manifest_bytes = 0;
  std::uint32_t block_bytes = 0;  // of the content's shape
  Spare spare;
  std::uint64_t place_count = 0;  // frames on the medium
  std::uint64_t group = 0;        // that follows this copy; the count of groups after the last

  // Bytes of a row that a frame carries.
  std::uint32_t payload_bytes() const { return data_bytes - kFrameHeaderBytes; }
  std::uint32_t slices() const { return (block_bytes + payload_bytes() - 1) / payload_bytes(); }
  std::uint64_t group_count() const {
    return (place_count + frames_per_group - 1) / frames_per_group;
  }
  ManifestShape manifest_shape() const { return {manifest_bytes, payload_bytes()}; }
  // Of the same medium: equal but for `group`.
  bool same_medium(const Label& other) const;

  static constexpr std::uint32_t kFrameHeaderBytes = 8;  // place, check (client/medium/frame.h)
};

inline constexpr std::size_t kLabelBytes = 116;

std::vector<std::uint8_t> label_to_bytes(const Label& label);

// Errors: kBadInput (not a label, of another version, or a rule is broken; says which). `bytes`
// has kLabelBytes.
Result<Label> label_from_bytes(std::span<const std::uint8_t> bytes);

}  // namespace firn::medium
