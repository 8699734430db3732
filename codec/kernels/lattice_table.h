// The table type of the kernels behind the synchronisation decoder's superposed lattices
// (codec/sync/superposed_decoder.h). Like table.h it holds nothing but data types: see there.
//
// A lattice carries a row of S nodes through n transitions, one for each bit of a codeword, for
// `lanes` codewords side by side. With g_0 the first row, node u = 0..S-1 of row k+1 is
//
//   g_{k+1}[u] = A_k[y(u + k)] g_k[u] + b g_k[u + 1] + h g_{k+1}[u - 1]      k = 0..n-1
//
// where nodes outside of 0..S-1 are 0: A is the transmission of a bit, b its deletion, h an
// insertion before the next bit. Whether there are insertions in the first and in the last row the
// pass says. A lattice that runs backward is the same one with nodes, bits and transitions counted
// from the other end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn::codec {

// Consecutive transitions that are done together, with the nodes in work in registers. In a sweep
// of unit deletion b = 1, as its rows are scaled by 1/P_d each: a multiplication less for a node.
struct LatticeSweep {
  std::size_t rows;  // 1..LatticeOperations::rows_max
  bool unit_deletion;
};

// One codeword's lattice. `aligned` is to 64 bytes; no array overlaps another.
template <class Real>
struct LatticePass {
  std::size_t nodes;           // S >= 1
  std::size_t chunks;          // of `lanes` codewords each
  const LatticeSweep* sweeps;  // their rows make n
  std::size_t sweep_count;
  Real insertion, deletion;  // h, and b of sweeps without unit deletion
  bool insert_first, insert_last;

  const Real* first_row;  // S numbers, the same for all codewords, before insertions
  const std::int32_t*
      symbols;          // [u + k]: y = 0, 1, or 2 for a bit outside of the record, times lanes
  const Real* table;    // A, row-major [chunks][n][3][lanes], aligned
  const Real* priors;   // [chunks][lanes], aligned; 0 in lanes without a codeword
  const Real* weights;  // nullptr, or w: number u = 0..S-1 is weights[u * weight_step]
  std::ptrdiff_t weight_step;
  Real* work;  // (2 S + lanes) lanes numbers, aligned

  // sum_D prior(D) g_n[u]: S numbers, and up to lanes - 1 more that mean nothing.
  Real* row_sums;
  // With weights: prior(D) sum_u w[u] g_n[u] for each codeword, [chunks][lanes], aligned.
  Real* joint;
};

template <class Real>
struct LatticeOperations {
  std::size_t lanes;     // codewords side by side: 1, 2, 4, 8 or 16
  std::size_t rows_max;  // transitions in a sweep

  void (*pass)(const LatticePass<Real>& pass);
  // Scales the numbers to a sum of 1 and gives the sum before; leaves them if that is not above 0
  // and finite.
  Real (*normalise)(Real* values, std::size_t count);
};

struct LatticeKernels {
  const char* name;  // "scalar", "avx2-fma", ...
  LatticeOperations<float> single_precision;
  LatticeOperations<double> double_precision;
};

// One per file lattice_*.cc of this folder; which of them are linked in, the build decides.
extern const LatticeKernels kScalarLatticeKernels;
extern const LatticeKernels kAvx2LatticeKernels;
extern const LatticeKernels kAvx512LatticeKernels;
extern const LatticeKernels kNeonLatticeKernels;

}  // namespace firn::codec
