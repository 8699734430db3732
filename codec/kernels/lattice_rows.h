// The superposed lattice over any vector instruction set, as vector_kernels.h is over those of the
// field: the loops are here, the instructions in an `Isa` type in the unnamed namespace of a file
// such as lattice_avx512.cc. codec/kernels/lattice_table.h says what is computed.
//
// An Isa has
//   Real, Vector      kLanes Reals
//   load, store       aligned; load_any, store_any: not
//   zero, all         0, or one number, in all lanes
//   add, multiply, multiply_add(a, b, c) = a b + c
//   sum_lanes(in)     kLanes vectors at `in`, aligned: lane j of the result is the sum of vector j
//   sum(v)            of all lanes
//   kRows             the longest sweep: two registers for each of its rows
//
// A sweep holds `kRows` consecutive rows in registers and goes along the nodes once. At step t it
// computes node t - 2 (r - 1) of its r-th row: each row is two nodes behind the one above, of which
// it needs the nodes u and u + 1, so that nothing within a step waits for anything else in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/kernels/lattice_table.h"
#include "codec/kernels/tile.h"

namespace firn::codec::lattice_rows {

// The row above the first one of a sweep.
enum class Input { kNumbers, kVectors };  // first_row of the pass; the last sweep's nodes

template <class Isa, std::size_t kRows, bool kUnitDeletion, Input kInput>
struct Sweep {
  using Real = typename Isa::Real;
  using Vector = typename Isa::Vector;

  const Real* in;               // S numbers, or S vectors and two vectors of zeros behind them
  Real* out;                    // S vectors; may be `in` where that is vectors
  const Real* table;            // of the sweep's first transition
  const std::int32_t* symbols;  // likewise
  std::ptrdiff_t nodes;         // S
  Vector insertion, deletion, last_insertion;
  // node[p][r] is row r (0: the input) at the last step of parity p.
  Vector node[2][kRows + 1];

  FIRN_INLINE Vector input(std::ptrdiff_t u) const {
    if constexpr (kInput == Input::kNumbers) {
      return u < nodes ? Isa::all(in[u]) : Isa::zero();
    } else {
      return Isa::load(in + u * static_cast<std::ptrdiff_t>(Isa::kLanes));
    }
  }

  // kInside: all rows are at nodes 0..S-1.
  template <int kParity, bool kInside>
  FIRN_INLINE void step(std::ptrdiff_t t) {
    constexpr auto kLanes = static_cast<std::ptrdiff_t>(Isa::kLanes);
#pragma GCC unroll 16
    for (std::ptrdiff_t r = kRows; r >= 1; --r) {
      const std::ptrdiff_t u = t - 2 * (r - 1);
      Vector& here = node[kParity][r];  // held node u - 2, which nobody needs any more
      if (!kInside && (u < 0 || u >= nodes)) {
        here = Isa::zero();
        continue;
      }
      const Vector transmission = Isa::load(table + (r - 1) * 3 * kLanes + symbols[t - (r - 1)]);
      const Vector above = node[kParity][r - 1], next_above = node[1 - kParity][r - 1];
      const Vector deleted = kUnitDeletion ? next_above : Isa::multiply(deletion, next_above);
      here =
          Isa::multiply_add(r == static_cast<std::ptrdiff_t>(kRows) ? last_insertion : insertion,
                            node[1 - kParity][r], Isa::multiply_add(transmission, above, deleted));
      if (r == static_cast<std::ptrdiff_t>(kRows)) Isa::store(out + u * kLanes, here);
    }
    node[kParity][0] = kInside && kInput == Input::kNumbers && t + 2 < nodes ? Isa::all(in[t + 2])
                                                                             : input_or_zero(t + 2);
  }
  FIRN_INLINE Vector input_or_zero(std::ptrdiff_t u) const {
    return u < nodes ? input(u) : Isa::zero();
  }

  // Steps first..end-1, of which the first has an even parity.
  template <bool kInside>
  FIRN_INLINE void steps(std::ptrdiff_t first, std::ptrdiff_t end) {
    std::ptrdiff_t t = first;
    for (; t + 1 < end; t += 2) {
      step<0, kInside>(t);
      step<1, kInside>(t + 1);
    }
    if (t < end) step<0, kInside>(t);
  }
};

}  // namespace firn::codec::lattice_rows
