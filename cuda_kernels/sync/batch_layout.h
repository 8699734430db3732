// Internal: where the arrays of one batch of frames stand in the memory that is copied to a device
// in one piece, and in that which is copied back. The same offsets on both sides.
#pragma once

#include <cstddef>

namespace firn::cuda::sync {

struct BatchLayout {
  // In.
  std::size_t received = 0, received_bits = 0, origins = 0, end_boundaries = 0, start = 0, end = 0,
              priors = 0, in_bytes = 0;
  // Out.
  std::size_t posteriors = 0, boundaries = 0, log_likelihoods = 0, lost = 0, out_bytes = 0;

  struct Shape {
    std::size_t length, alphabet, states, received_pitch;
    std::size_t posterior_bytes;  // of one number: 4 or 8
  };

  BatchLayout(const Shape& shape, std::size_t frames, bool with_priors) {
    const auto place = [](std::size_t& bytes, std::size_t wanted) {
      const std::size_t at = bytes;
      bytes += (wanted + 255) / 256 * 256;
      return at;
    };
    const std::size_t symbols = frames * shape.length * shape.alphabet;
    received = place(in_bytes, frames * shape.received_pitch);
    received_bits = place(in_bytes, frames * sizeof(int));
    origins = place(in_bytes, frames * sizeof(int));
    end_boundaries = place(in_bytes, frames * sizeof(int));
    start = place(in_bytes, frames * shape.states * sizeof(double));
    end = place(in_bytes, frames * shape.states * sizeof(double));
    priors = place(in_bytes, with_priors ? symbols * sizeof(double) : 0);
    posteriors = place(out_bytes, symbols * shape.posterior_bytes);
    boundaries = place(out_bytes, frames * 2 * shape.states * sizeof(double));
    log_likelihoods = place(out_bytes, frames * sizeof(double));
    lost = place(out_bytes, frames);
  }
};

}  // namespace firn::cuda::sync
