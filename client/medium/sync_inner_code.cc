#include "client/medium/sync_inner_code.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "client/medium/mark.h"
#include "codec/random.h"
#include "codec/sync/codebooks.h"

namespace firn::medium {
namespace {

namespace sync = codec::sync;

// Probability that a word needs a drift that its decoder leaves out.
constexpr double kExcluded = 1e-10;
// Rates of zero would leave no drift at all, and no medium is that good.
constexpr double kRateMin = 1e-4;
constexpr std::uint64_t kMarkSymbols = 0x6d61726b;  // seed
// Posterior weights below this share of the largest are left out of the next start.
constexpr double kWeightMin = 1e-12;
// Certainties are floats.
constexpr float kCertain = 1.0f;

sync::StateLimits limits_of(const sync::TvbCode& code, const sync::Channel& channel) {
  sync::StateLimits limits =
      sync::rigorous_limits(code.codeword_bits(), code.length(), channel, kExcluded);
  // A word may start as far from its likeliest place as a mark is in doubt.
  limits.frame.low -= static_cast<int>(MarkFinder::kReach);
  limits.frame.high += static_cast<int>(MarkFinder::kReach);
  return limits;
}

sync::Channel channel_of(const Rates& rates) {
  return {std::max(rates.insertion, kRateMin), std::max(rates.deletion, kRateMin),
          rates.substitution};
}

}  // namespace

Result<std::shared_ptr<const SyncInnerCode>> SyncInnerCode::make(const InnerShape& shape,
                                                                 std::size_t word_bytes,
                                                                 const Rates& rates) {
  const Error error{ErrorCode::kBadInput, "make the medium's codebooks",
                    "there are none of this shape"};
  const sync::Channel channel = channel_of(rates);
  if (!channel.valid()) return error;
  const std::size_t n = shape.codeword_bits, q = shape.alphabet;
  if (!std::has_single_bit(q) || q < 2 || n > 32 || q > std::uint64_t{1} << n) return error;
  const auto bits = static_cast<std::size_t>(std::countr_zero(q));
  const std::size_t symbols = (word_bytes * 8 + bits - 1) / bits;
  const std::size_t following = kMarkBits / n;
  if (following > symbols) return error;  // the mark has the books of a word's first symbols
  auto books = shape.distance == 0
                   ? sync::random_books(n, q, sync::kBookCount, shape.seed)
                   : sync::indel_books(n, q, shape.distance, sync::kBookCount, shape.seed);
  const auto code = sync::TvbCode::make(n, q, symbols, std::move(books));
  if (!code) return error;
  return std::shared_ptr<const SyncInnerCode>(
      new SyncInnerCode(code->with_lookahead(following), word_bytes, symbols, channel));
}

Result<std::shared_ptr<const SyncInnerCode>> SyncInnerCode::with_rates(const Rates& rates) const {
  const sync::Channel channel = channel_of(rates);
  if (!channel.valid())
    return Error{ErrorCode::kBadInput, "read a medium", "no channel has these rates"};
  return std::shared_ptr<const SyncInnerCode>(
      new SyncInnerCode(code_, word_bytes_, symbols_, channel));
}

SyncInnerCode::SyncInnerCode(sync::TvbCode code, std::size_t word_bytes, std::size_t symbols,
                             const sync::Channel& channel)
    : code_(std::move(code)),
      word_bytes_(word_bytes),
      symbols_(symbols),
      symbol_bits_(static_cast<std::size_t>(std::countr_zero(code_.alphabet()))),
      decoders_(sync::MapDecoder(code_, channel, limits_of(code_, channel))) {
  // The mark is made of codewords, so that the decoder may take it for the word that follows.
  codec::CoefficientStream random(kMarkSymbols, 0);
  for (std::size_t i = symbols_; i < code_.length(); ++i) {
    const auto symbol = random.below(static_cast<std::uint32_t>(code_.alphabet()));
    for (std::size_t bit = 0; bit < code_.codeword_bits(); ++bit)
      mark_.push_back(code_.codeword(i, symbol) >> bit & 1);
  }
}

Bits SyncInnerCode::encode(std::span<const std::uint8_t> word) const {
  FIRN_CHECK(word.size() == word_bytes_);
  Bits bits;
  bits.reserve(word_bits());
  for (std::size_t i = 0; i < symbols_; ++i) {
    sync::Symbol symbol = 0;
    for (std::size_t b = 0; b < symbol_bits_; ++b) {
      const std::size_t at = i * symbol_bits_ + b;
      if (at < word_bytes_ * 8)
        symbol |= static_cast<sync::Symbol>(word[at / 8] >> at % 8 & 1) << b;
    }
    const std::uint32_t codeword = code_.codeword(i, symbol);
    for (std::size_t b = 0; b < code_.codeword_bits(); ++b) bits.push_back(codeword >> b & 1);
  }
  return bits;
}

std::size_t SyncInnerCode::bits_before() const {
  return static_cast<std::size_t>(-decoders_.limits().frame.low);
}

std::size_t SyncInnerCode::bits_behind() const {
  return code_.frame_bits() + static_cast<std::size_t>(decoders_.limits().frame.high);
}

void SyncInnerCode::take_symbol(std::span<const double> posterior, std::size_t index,
                                WordReading& reading) const {
  const auto best = static_cast<std::size_t>(std::max_element(posterior.begin(), posterior.end()) -
                                             posterior.begin());
  // A symbol may lie in two bytes or more: each counts the bits that it holds.
  std::size_t b = 0;
  while (b < symbol_bits_) {
    const std::size_t at = index * symbol_bits_ + b;
    if (at >= word_bytes_ * 8) return;
    const std::size_t here = std::min(symbol_bits_ - b, 8 - at % 8);
    const std::size_t mask = ((std::size_t{1} << here) - 1) << b;
    double right = 0;
    for (std::size_t d = 0; d < posterior.size(); ++d)
      if ((d & mask) == (best & mask)) right += posterior[d];
    reading.word[at / 8] =
        static_cast<std::uint8_t>(reading.word[at / 8] | (best & mask) >> b << at % 8);
    reading.certainty[at / 8] *= static_cast<float>(right);
    b += here;
  }
}

WordReading SyncInnerCode::read(const Window& window, const Boundary& start) const {
  WordReading reading;
  const sync::DriftRange& drifts = decoders_.limits().frame;
  const std::int64_t begin = start.bit();
  const std::int64_t last = begin + static_cast<std::int64_t>(bits_behind());
  if (begin < window.first || begin >= window.end()) return reading;
  const std::int64_t from =
      std::max(window.first, begin - static_cast<std::int64_t>(bits_before()));

  sync::FrameProblem problem;
  problem.received =
      window.bits.subspan(static_cast<std::size_t>(from - window.first),
                          static_cast<std::size_t>(std::min(last, window.end()) - from));
  problem.origin = begin - from;
  const auto states = static_cast<std::size_t>(drifts.size());
  std::vector<double> starts(states), ends(states, 1.0);
  for (std::size_t i = 0; i < start.weights.size(); ++i) {
    const std::int64_t drift = start.first + static_cast<std::int64_t>(i) - begin;
    if (drift >= drifts.low && drift <= drifts.high)
      starts[static_cast<std::size_t>(drift - drifts.low)] = start.weights[i];
  }
  problem.start_prior = starts;
  problem.end_prior = ends;
  problem.end_boundary = symbols_;
  sync::FrameSolution solution;
  decoders_.decode(problem, solution);
  if (solution.status != sync::FrameStatus::kDecoded) return reading;

  reading.found = true;
  reading.log_likelihood = solution.log_likelihood;
  reading.word.resize(word_bytes_);
  reading.certainty.assign(word_bytes_, kCertain);
  for (std::size_t i = 0; i < symbols_; ++i)
    take_symbol(std::span(solution.posteriors).subspan(i * code_.alphabet(), code_.alphabet()), i,
                reading);
  reading.end.weights = solution.end_posterior;
  reading.end.first = begin + static_cast<std::int64_t>(word_bits()) + drifts.low;
  const double most = *std::max_element(reading.end.weights.begin(), reading.end.weights.end());
  for (double& weight : reading.end.weights)
    if (weight < kWeightMin * most) weight = 0;
  return reading;
}

}  // namespace firn::medium
