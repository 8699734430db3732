#include "codec/sync/stream_decoder.h"

#include <algorithm>
#include <cassert>

namespace firn::codec::sync {
namespace {

StateLimits stream_limits(const TvbCode& code, const Channel& channel, double excluded) {
  return rigorous_limits(code.codeword_bits(), code.length(), channel, excluded);
}

}  // namespace

StreamDecoder::StreamDecoder(const TvbCode& code, const Channel& channel, double excluded,
                             std::size_t lookahead, const DecoderOptions& options)
    : length_(code.length()),
      frame_bits_(code.frame_bits()),
      decoder_(code, channel, stream_limits(code.with_lookahead(lookahead), channel, excluded),
               options),
      ahead_(code.with_lookahead(lookahead), channel, decoder_.limits(), options),
      end_prior_(static_cast<std::size_t>(limits().frame.size()), 1) {
  assert(lookahead <= code.length());
  start_at(0);
}

void StreamDecoder::start_at(std::ptrdiff_t position) {
  origin_ = position;
  start_prior_.assign(end_prior_.size(), 0);
  start_prior_[static_cast<std::size_t>(-limits().frame.low)] = 1;
}

void StreamDecoder::start_at(std::ptrdiff_t position, std::span<const double> prior) {
  assert(prior.size() == end_prior_.size());
  origin_ = position;
  start_prior_.assign(prior.begin(), prior.end());
}

void StreamDecoder::decode(std::span<const std::uint8_t> record, Next next,
                           FrameSolution& solution) {
  FrameProblem problem;
  problem.received = record;
  problem.origin = origin_;
  problem.start_prior = start_prior_;
  if (next != Next::kEnd) problem.end_prior = end_prior_;
  problem.end_boundary = length_;
  MapDecoder& decoder = next == Next::kFrame ? ahead_ : decoder_;
  decoder.decode(problem, solution);
  if (solution.status == FrameStatus::kDecoded) {
    solution.posteriors.resize(length_ * decoder.code().alphabet());
    go_on(solution);
  } else {
    origin_ += static_cast<std::ptrdiff_t>(frame_bits_);
  }
}

// Counts drifts from the most probable end, so that they stay within the limits.
void StreamDecoder::go_on(const FrameSolution& solution) {
  const auto& posterior = solution.end_posterior;
  const auto best = std::max_element(posterior.begin(), posterior.end()) - posterior.begin();
  const std::ptrdiff_t drift = best + limits().frame.low;
  origin_ += static_cast<std::ptrdiff_t>(frame_bits_) + drift;
  const auto states = static_cast<std::ptrdiff_t>(posterior.size());
  for (std::ptrdiff_t s = 0; s < states; ++s) {
    const std::ptrdiff_t from = s + drift;
    start_prior_[static_cast<std::size_t>(s)] =
        from >= 0 && from < states ? posterior[static_cast<std::size_t>(from)] : 0;
  }
}

}  // namespace firn::codec::sync
