// Internal: the kernels of Briffa's decoder, a launcher for each, under the paper's names. The
// host's side is briffa.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/runtime/status.h"

namespace firn::cuda::papers {

// One frame. Indices in arrays: i, m' and m from 0, in order.
struct BriffaFrame {
  int n = 0, q = 0, length = 0;       // N
  int frame_low = 0, states = 0;      // m_tau-, M_tau
  int codeword_low = 0, changes = 0;  // m_n-, M_n
  float insertion_half = 0, deletion = 0, match = 0, mismatch = 0;
  int received_bits = 0, origin = 0;  // rho, and where drift 0 stands
  bool gamma_of_all = true;           // global storage

  // On the device.
  const std::uint32_t* codebooks = nullptr;  // N x q, flat (III-B)
  const std::uint8_t* received = nullptr;    // a bit a byte
  const double* priors = nullptr;            // N x q, or null
  const double* start = nullptr;             // M_tau: alpha_0
  const double* end = nullptr;               // M_tau: beta_N
  double* alpha = nullptr;                   // (N + 1) x row_pitch
  double* beta = nullptr;
  double* symbols = nullptr;  // L: N x q, of any sum for each i
  double* drifts = nullptr;   // Phi: 2 x M_tau

  int row_pitch() const { return (states + 15) / 16 * 16; }
  int lattice_columns() const { return n + codeword_low + changes; }  // n + m_n+ + 1
  // gamma_i: M_tau x M_n x q, D innermost, so that a warp reads what stands together.
  std::size_t gamma_each() const {
    return static_cast<std::size_t>(states) * static_cast<std::size_t>(changes) *
           static_cast<std::size_t>(q);
  }
};

// A grid of Table II.
struct BriffaGrid {
  int blocks_x = 1, blocks_y = 1, threads_x = 1, threads_y = 1;
  std::size_t shared_bytes = 0;
};

// What a kernel takes on the selected device: threads in a block, as its registers allow, and bytes
// of shared memory in a block.
struct BriffaBounds {
  int threads = 0;
  std::size_t shared_bytes = 0;
};
Status gamma_bounds(BriffaBounds& bounds);
Status sums_bounds(BriffaBounds& bounds);  // of alpha and beta
Status symbols_bounds(BriffaBounds& bounds);

// gamma of indices first .. first + blocks_x - 1.
Status launch_gamma(const BriffaFrame& frame, const BriffaGrid& grid, int first, float* gamma,
                    void* stream);
Status launch_init(const BriffaFrame& frame, bool backwards, void* stream);
// alpha_i from alpha_{i-1} and gamma_{i-1}; beta_i from beta_{i+1} and gamma_i; not yet normalised.
Status launch_alpha(const BriffaFrame& frame, const BriffaGrid& grid, int i, const float* gamma,
                    void* stream);
Status launch_beta(const BriffaFrame& frame, const BriffaGrid& grid, int i, const float* gamma,
                   void* stream);
Status launch_normalise(const BriffaFrame& frame, double* row, void* stream);
// L of indices first .. first + blocks_x - 1.
Status launch_symbols(const BriffaFrame& frame, const BriffaGrid& grid, int first,
                      const float* gamma, void* stream);
// Phi at boundary i, into drifts[which].
Status launch_drifts(const BriffaFrame& frame, int i, int which, void* stream);

}  // namespace firn::cuda::papers
