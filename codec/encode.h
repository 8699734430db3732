// Making coded blocks. Encoding and recoding are the same product; they differ in what the rows
// are: source blocks (a holder of the generation) or received coded blocks (a relay), where the new
// vector is the same combination of the rows' vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/kernels.h"
#include "codec/random.h"

namespace firn::codec {

// Draws the vector of a dense coded block of n source blocks: uniform, not all zero.
std::vector<std::uint8_t> random_vector(std::size_t generation_size, CoefficientStream& random);

// The unit vector of source block `index`.
std::vector<std::uint8_t> unit_vector(std::size_t generation_size, std::size_t index);

// Draws how a relay mixes the `rank` innovative rows it holds: every coefficient nonzero, and with
// one row a coefficient other than 1. As the rows are independent, the result equals none of them:
// a relay recodes, it never forwards. rank > 0.
std::vector<std::uint8_t> random_mix(std::size_t rank, CoefficientStream& random);

// vector_out[i] = sum_j mix[j] * vectors[j][i]: the coding vector of a recoded block.
void mix_vectors(const Kernels& kernels, std::span<const std::uint8_t> mix,
                 std::span<const std::uint8_t* const> vectors, std::span<std::uint8_t> vector_out);

}  // namespace firn::codec
