// What the superposed form prepares once for a code and a channel: the factors of every codebook,
// in the order in which the kernels read them. Immutable; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "codec/kernels/lattice_table.h"
#include "codec/sync/aligned_array.h"
#include "codec/sync/channel.h"
#include "codec/sync/tvb_code.h"

namespace firn::codec::sync {

template <class Real>
class SuperposedTables {
 public:
  SuperposedTables(const TvbCode& code, const Channel& channel,
                   const LatticeOperations<Real>& operations);

  std::size_t lanes() const { return lanes_; }
  std::size_t chunks() const { return chunks_; }          // of `lanes` codewords
  std::size_t width() const { return chunks_ * lanes_; }  // q, rounded up
  const std::vector<LatticeSweep>& sweeps() const { return sweeps_; }
  Real insertion() const { return insertion_; }  // P_i / 2
  Real deletion() const { return deletion_; }    // P_d
  // ln of what sums over a codeword's last row are to be multiplied by.
  double log_scale() const { return log_scale_; }
  // LatticePass::table of index i, for lattices that run forward or backward.
  const Real* forward(std::size_t book) const { return forward_.data() + book * table_size_; }
  const Real* backward(std::size_t book) const { return backward_.data() + book * table_size_; }

 private:
  void plan_sweeps(std::size_t n, const Channel& channel, std::size_t rows_max);
  void fill(AlignedArray<Real>& table, const TvbCode& code, const Channel& channel, bool reversed);

  std::size_t lanes_, chunks_, table_size_;
  Real insertion_, deletion_;
  double log_scale_ = 0;
  std::vector<LatticeSweep> sweeps_;
  AlignedArray<Real> forward_, backward_;  // [books][chunks][n][3][lanes]
};

}  // namespace firn::codec::sync
