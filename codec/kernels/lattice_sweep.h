// Some rows of a superposed lattice in one go along its nodes, over any vector instruction set.
//
// The nodes in work stay in registers. At step t the sweep computes node t - 2 (r - 1) of its r-th
// row: each row is two nodes behind the one above, of which it needs the nodes u and u + 1, so that
// nothing within a step waits for anything else in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/kernels/tile.h"

namespace firn::codec::lattice {

// What stands above the first row of a sweep.
enum class Input { kNumbers, kVectors };  // the lattice's first row; nodes of the sweep before

template <class Real>
struct SweepWork {
  std::ptrdiff_t nodes;  // S
  const Real* in;        // S numbers, or S vectors
  Real* out;             // S vectors; may be `in` where that is vectors
  const Real* table;     // of the first transition
  const std::int32_t* symbols;
  Real insertion, deletion, first_insertion, last_insertion;
};

template <class Isa, int kRows, bool kUnitDeletion, Input kInput>
class Sweep {
 public:
  using Real = typename Isa::Real;
  using Vector = typename Isa::Vector;

  FIRN_INLINE explicit Sweep(const SweepWork<Real>& work)
      : nodes_(work.nodes),
        in_(work.in),
        out_(work.out),
        table_(work.table),
        symbols_(work.symbols),
        insertion_(Isa::all(work.insertion)),
        deletion_(Isa::all(work.deletion)),
        first_insertion_(Isa::all(work.first_insertion)),
        last_insertion_(Isa::all(work.last_insertion)) {
#pragma GCC unroll 16
    for (int r = 0; r <= kRows; ++r) node_[0][r] = node_[1][r] = Isa::zero();
    load_input<0>(0);
    load_input<1>(1);
  }

  FIRN_INLINE void run() {
    constexpr std::ptrdiff_t kLag = 2 * (kRows - 1);
    // From kLag on the last row is at a node, and until S - 1 the first one is.
    const std::ptrdiff_t inside = nodes_ > kLag ? (nodes_ - kLag) / 2 * 2 : 0;
    const std::ptrdiff_t begin = nodes_ > kLag ? kLag : 0;
    steps<false>(0, begin);
    steps<true>(begin, begin + inside);
    steps<false>(begin + inside, nodes_ + kLag);
  }

 private:
  static constexpr auto kLanes = static_cast<std::ptrdiff_t>(Isa::kLanes);

  // Steps begin..end-1; begin is even. kInside: all rows are at nodes 0..S-1.
  template <bool kInside>
  FIRN_INLINE void steps(std::ptrdiff_t begin, std::ptrdiff_t end) {
    std::ptrdiff_t t = begin;
    for (; t + 1 < end; t += 2) {
      step<0, kInside>(t);
      step<1, kInside>(t + 1);
    }
    if (t < end) step<0, kInside>(t);
  }

  template <int kParity, bool kInside>
  FIRN_INLINE void step(std::ptrdiff_t t) {
#pragma GCC unroll 16
    for (int r = kRows; r >= 1; --r) {
      const std::ptrdiff_t u = t - 2 * (r - 1);
      if (!kInside && (u < 0 || u >= nodes_)) {
        node_[kParity][r] = Isa::zero();
        continue;
      }
      const Vector transmission = Isa::load(table_ + 3 * kLanes * (r - 1) + symbols_[t - (r - 1)]);
      const Vector next_above = node_[1 - kParity][r - 1];
      const Vector deleted = kUnitDeletion ? next_above : Isa::multiply(deletion_, next_above);
      const Vector sum = Isa::multiply_add(transmission, node_[kParity][r - 1], deleted);
      node_[kParity][r] =
          Isa::multiply_add(r == kRows ? last_insertion_ : insertion_, node_[1 - kParity][r], sum);
    }
    const std::ptrdiff_t done = t - 2 * (kRows - 1);
    if (kInside || (done >= 0 && done < nodes_)) {
      Isa::store(out_ + kLanes * done, node_[kParity][kRows]);
    }
    load_input<kParity>(t + 2);
  }

  template <int kParity>
  FIRN_INLINE void load_input(std::ptrdiff_t u) {
    if (u >= nodes_) {
      node_[kParity][0] = Isa::zero();
    } else if (kInput == Input::kVectors) {
      node_[kParity][0] = Isa::load(in_ + kLanes * u);
    } else {
      node_[kParity][0] =
          Isa::multiply_add(first_insertion_, node_[1 - kParity][0], Isa::all(in_[u]));
    }
  }

  const std::ptrdiff_t nodes_;
  const Real* const in_;
  Real* const out_;
  const Real* const table_;
  const std::int32_t* const symbols_;
  const Vector insertion_, deletion_, first_insertion_, last_insertion_;
  // node_[p][r] is what row r (0: the input, two nodes ahead) computed at the last step of parity
  // p.
  Vector node_[2][kRows + 1];
};

}  // namespace firn::codec::lattice
