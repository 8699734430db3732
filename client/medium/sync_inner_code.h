// The inner code of media: a time-varying block code and the MAP decoder for channels that insert,
// delete and flip bits (codec/sync). A word's bits become symbols of log2 q bits each, lowest
// first; a byte's certainty is the product of its bits' posteriors, symbol by symbol. The start of
// a word is known as a distribution, as is its end, which the next word starts with; some codewords
// of what follows are decoded with each word, so that its last symbols are as good as the others.
#pragma once

#include <memory>

#include "client/medium/decoder_pool.h"
#include "client/medium/inner_code.h"
#include "client/medium/label.h"
#include "codec/sync/tvb_code.h"
#include "proto/base/result.h"

namespace firn::medium {

class SyncInnerCode final : public InnerCode {
 public:
  // Errors: kBadInput (no such codebooks can be made, a word is shorter than a mark, or the rates
  // are none).
  static Result<std::shared_ptr<const SyncInnerCode>> make(const InnerShape& shape,
                                                           std::size_t word_bytes,
                                                           const Rates& rates);
  // The same code, read as from a channel of other rates: making codebooks takes longer than
  // decoding dozens of words. Errors: kBadInput (the rates are none).
  Result<std::shared_ptr<const SyncInnerCode>> with_rates(const Rates& rates) const;

  std::size_t word_bytes() const override { return word_bytes_; }
  std::size_t word_bits() const override { return symbols_ * code_.codeword_bits(); }
  const Bits& mark() const override { return mark_; }
  Bits encode(std::span<const std::uint8_t> word) const override;
  std::size_t bits_before() const override;
  std::size_t bits_behind() const override;
  WordReading read(const Window& window, const Boundary& start) const override;

 private:
  SyncInnerCode(codec::sync::TvbCode code, std::size_t word_bytes, std::size_t symbols,
                const codec::sync::Channel& channel);

  // Bits of the symbol: hard decisions, and how certain they are.
  void take_symbol(std::span<const double> posterior, std::size_t index,
                   WordReading& reading) const;

  codec::sync::TvbCode code_;  // with the codewords that follow a word
  std::size_t word_bytes_, symbols_, symbol_bits_;
  DecoderPool decoders_;
  Bits mark_;
};

}  // namespace firn::medium
