// Frames that follow one another on a medium without marks between them. Where one ends is known by
// its posterior alone, which becomes the prior of the next one's start; each is decoded together
// with the first codewords of the next (its lookahead), as nothing else tells where it ends.
// One thread at a time; a copy goes on alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/sync/map_decoder.h"

namespace firn::codec::sync {

class StreamDecoder {
 public:
  // As many as are of use: 8 codewords tell a frame's end as well as 16 (note 043).
  static constexpr std::size_t kLookahead = 8;

  // Frames of `code`, over which the channel drifts within limits that exclude at most `excluded`
  // of them (rigorous_limits). The start of a frame is taken to be within `frame` of where it is
  // expected. lookahead is at most N.
  StreamDecoder(const TvbCode& code, const Channel& channel, double excluded,
                std::size_t lookahead = kLookahead, const DecoderOptions& options = {});

  // The next frame starts at `position` of the record, for certain; or with the probabilities of
  // `prior`, over the drifts of limits() around it.
  void start_at(std::ptrdiff_t position);
  void start_at(std::ptrdiff_t position, std::span<const double> prior);
  // Where the next frame most probably starts.
  std::ptrdiff_t position() const { return origin_; }
  const StateLimits& limits() const { return decoder_.limits(); }

  enum class Next {
    kFrame,    // another frame follows, of at least `lookahead` codewords
    kUnknown,  // nothing is known of what follows
    kEnd,      // the record ends with this frame
  };

  // Decodes a frame and goes on behind it. `record` is all that was received, or enough of it: up
  // to the frame's end, its lookahead and limits().frame.high bits. Gives N rows of posteriors. A
  // frame that is not decoded is taken to have no drift; its successor's start is as uncertain as
  // it was.
  void decode(std::span<const std::uint8_t> record, Next next, FrameSolution& solution);

 private:
  void go_on(const FrameSolution& solution);

  std::size_t length_, frame_bits_;
  MapDecoder decoder_;  // of a frame
  MapDecoder ahead_;    // of a frame and its lookahead, with the same limits
  std::ptrdiff_t origin_ = 0;
  std::vector<double> start_prior_, end_prior_;
};

}  // namespace firn::codec::sync
