// The ways to choose coding vectors, and what each costs in redundant blocks.
//
//   mode         a vector is                             redundant blocks for n innovative ones
//   dense        uniform, not zero                       about 1/255
//   sparse       each coefficient nonzero with           more; see redundancy_of_sparse
//                probability `density`
//   binary       uniform bits (Vingelmann and Fitzek)    about 1.6
//   systematic   the n unit vectors in turn, then dense  none if nothing is lost, else as dense
//
// Sparse and binary vectors make blocks cheaper to encode, never to decode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/random.h"

namespace firn::codec {

enum class CoefficientMode { kDense, kSparse, kBinary, kSystematic };

// Draws vectors of n coefficients, never the zero vector. One thread at a time.
class CodingVectors {
 public:
  // density: of sparse vectors only, in (0, 1].
  CodingVectors(CoefficientMode mode, std::size_t generation_size, CoefficientStream random,
                double density = 0.1);
  std::vector<std::uint8_t> next();

 private:
  void draw(std::vector<std::uint8_t>& vector);

  CoefficientMode mode_;
  std::size_t n_;
  CoefficientStream random_;
  std::uint32_t threshold_;  // of 2^32: the density
  std::size_t drawn_ = 0;
};

// The probability that a sparse vector is redundant for a receiver that lacks one dimension, where
// the vector orthogonal to all that it holds has `weight` nonzero coefficients:
//   1/256 + (255/256) (1 - density 256/255)^weight
// (without those that are zero, which CodingVectors does not give). A receiver that needs one
// certain source block has weight 1: that is where sparse vectors fail.
double redundancy_of_sparse(double density, std::size_t weight);

// How a relay mixes `rank` rows with few of them: `nonzeros` (at least 2) of the coefficients are
// not zero, at random places; all, if rank is smaller. With one row a factor other than 1, as
// random_mix. The result equals no row, if the rows are independent. rank > 0.
std::vector<std::uint8_t> sparse_mix(std::size_t rank, std::size_t nonzeros,
                                     CoefficientStream& random);

}  // namespace firn::codec
