// A frame's bytes: a Reed-Solomon codeword that carries one row slice.
//
//   offset  bytes
//   0       4      place on the medium, little-endian
//   4       4      check: the first bytes of SHA-256 over content id, place and payload
//   8       k - 8  payload: a row's slice, zeros behind a short last one
//   k       n - k  parity
//
// The k bytes are xored with a fixed key stream before parity is made, so that a content of zeros
// looks like any other on the medium. A frame that the code mistook for another, or that belongs
// to another content, fails the check; the reader also knows which places can stand where.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "client/medium/label.h"
#include "codec/reed_solomon/reed_solomon.h"

namespace firn::medium {

// Immutable; any thread.
class FrameCode {
 public:
  struct Frame {
    std::uint32_t place = 0;
    std::vector<std::uint8_t> payload;
    std::size_t errors = 0;  // bytes corrected outside of the erasures
  };

  explicit FrameCode(const Label& label);

  std::size_t word_bytes() const { return code_.length(); }
  std::size_t payload_bytes() const { return code_.data_bytes() - Label::kFrameHeaderBytes; }

  // The n bytes of the frame at `place`. payload: at most payload_bytes().
  std::vector<std::uint8_t> make(std::uint32_t place, std::span<const std::uint8_t> payload) const;

  // word: n bytes as received; certainty: for each the probability that it is right, by which some
  // are taken for erasures. `possible` says whether a place can stand here. Nothing if no codeword
  // near enough has a right check.
  std::optional<Frame> read(std::span<const std::uint8_t> word, std::span<const float> certainty,
                            const std::function<bool(std::uint32_t)>& possible) const;

  // How read() chooses erasures (measure_medium does as well): the bytes, the least certain
  // first; how many are so doubtful that erasing them pays; and the numbers of the first bytes that
  // are erased in turn, until one decodes, with that parity.
  static std::vector<std::uint8_t> weakest_first(std::span<const float> certainty);
  static std::size_t doubtful(std::span<const float> certainty);
  static std::vector<std::size_t> erasure_counts(std::size_t doubtful, std::size_t parity_bytes);

 private:
  std::optional<Frame> attempt(std::span<const std::uint8_t> word,
                               std::span<const std::uint8_t> erased,
                               const std::function<bool(std::uint32_t)>& possible) const;
  std::uint32_t check_of(std::uint32_t place, std::span<const std::uint8_t> payload) const;

  codec::ReedSolomon code_;
  ContentId content_;
  std::vector<std::uint8_t> key_;  // k bytes
};

}  // namespace firn::medium
