// Frames for the benchmarks of the synchronisation decoder: shapes, and what the channel makes of
// random symbols.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "codec/random.h"
#include "codec/sync/limits.h"
#include "codec/sync/map_decoder.h"
#include "tests/codec/sync/frames.h"

namespace firn::cuda::sync {

namespace channel = codec::sync;

struct SyncShape {
  std::size_t n, q, length;
  double p, substitution = 0;  // P_i = P_d = p, as in the paper
};

// The targets' shapes first; then the specification's, and alphabets that fill a block.
inline std::vector<SyncShape> sync_shapes(bool quick) {
  std::vector<SyncShape> shapes{{10, 32, 210, 1e-2}, {8, 16, 512, 1e-2}};
  if (quick) return shapes;
  const std::vector<SyncShape> others{{10, 32, 210, 1e-3},
                                      {10, 32, 210, 3e-2},
                                      {10, 32, 210, 1e-1},
                                      {10, 32, 840, 1e-3},
                                      {16, 256, 256, 1e-2}};
  shapes.insert(shapes.end(), others.begin(), others.end());
  return shapes;
}

struct SyncFrames {
  channel::Channel medium;
  channel::TvbCode code;
  channel::StateLimits limits;
  std::vector<channel::FrameProblem> problems;

  SyncFrames(const SyncShape& shape, std::size_t count)
      : medium{shape.p, shape.p, shape.substitution},
        code(channel::random_code(shape.n, shape.q, shape.length, 777,
                                  std::min(shape.length, channel::kBookCount))),
        limits(channel::rigorous_limits(shape.n, shape.length, medium, 1e-10)),
        records_(std::make_shared<std::vector<channel::Bits>>()) {
    codec::CoefficientStream random(3, shape.q);
    while (records_->size() < count)
      records_->push_back(
          channel::transmit(code.encode(channel::random_symbols(code, random)), medium, random));
    for (const channel::Bits& record : *records_) {
      problems.emplace_back();
      problems.back().received = record;
    }
  }

  SyncFrames first(std::size_t count) const {
    SyncFrames few = *this;
    few.problems.resize(std::min(count, problems.size()));
    return few;
  }

  double information() const {
    return static_cast<double>(code.length()) * std::log2(static_cast<double>(code.alphabet()));
  }
  double superposed_nodes() const {
    return 2.0 * static_cast<double>(code.frame_bits() * code.alphabet()) * limits.frame.size();
  }
  // Of the paper's gamma (Table II).
  double corridor_nodes() const {
    const double low = limits.codeword.low;
    return static_cast<double>(code.length() * code.alphabet()) * limits.frame.size() *
           (static_cast<double>(code.codeword_bits()) * limits.codeword.size() -
            low * (low - 1) / 2);
  }

 private:
  std::shared_ptr<std::vector<channel::Bits>> records_;  // what problems refer to
};

}  // namespace firn::cuda::sync
