// Briffa's decoder as its paper has it, one frame at a time:
//
//   J. A. Briffa, "A GPU implementation and optimization of a flexible MAP decoder for
//   synchronization correction", 2014
//
// gamma, alpha, beta, normalisation, L and Phi are kernels of their own (briffa_gamma.cu,
// briffa_sums.cu); the paths kept are those of codec::sync's batch form, with a float lattice and
// double sums. The production decoder is cuda_kernels/sync/batch_decoder.h. One thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "codec/sync/map_decoder.h"
#include "cuda_kernels/papers/briffa_launch.h"
#include "cuda_kernels/runtime/event.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/stream.h"

namespace firn::cuda::papers {

// The grids of Table II for one code, one channel and one device (V-A, V-B).
struct BriffaPlan {
  BriffaGrid gamma, sums, symbols;
};

class BriffaDecoder {
 public:
  // kGlobal keeps gamma of all indices: N M_tau M_n q floats; kLocal of four at a time. Limits and
  // channel are valid. kOutOfMemory where the device has not got that.
  Status open(const Device& device, const codec::sync::TvbCode& code,
              const codec::sync::Channel& channel, const codec::sync::StateLimits& limits,
              codec::sync::Storage storage);

  Status decode(const codec::sync::FrameProblem& problem, codec::sync::FrameSolution& solution);

  // Its parts: a benchmark times the second, any number of times, and waits by stream(). Phi is
  // that of boundary 0 and of the problem's end_boundary.
  Status upload(const codec::sync::FrameProblem& problem);
  Status launch();
  Status download(codec::sync::FrameSolution& solution);

  // Its work begins and ends here; three other streams run beside it.
  Stream& stream() { return streams_[0]; }
  std::size_t device_bytes() const { return memory_.size() + gamma_.size(); }

 private:
  // In local storage the streams take turns (IV-B).
  static constexpr int kStreams = 4;

  Status make_plan();
  Status place_arrays(const codec::sync::TvbCode& code);
  Status launch_global();
  Status launch_local();
  Status launch_local_pass(bool backwards);
  Status follow(int stream, int before);
  float* gamma(std::size_t slot) const {
    return reinterpret_cast<float*>(gamma_.data()) + slot * frame_.gamma_each();
  }
  double* row(bool backwards, int i) const {
    return (backwards ? frame_.beta : frame_.alpha) +
           static_cast<std::size_t>(i) * static_cast<std::size_t>(frame_.row_pitch());
  }

  std::optional<codec::sync::TvbCode> code_;
  codec::sync::DriftRange range_;
  BriffaFrame frame_;
  BriffaPlan plan_;
  Stream streams_[kStreams];
  Event events_[kStreams];
  DeviceMemory memory_, gamma_;
  std::uint8_t *received_ = nullptr, *priors_ = nullptr, *start_ = nullptr, *end_ = nullptr;
  int end_boundary_ = 0;
};

}  // namespace firn::cuda::papers
