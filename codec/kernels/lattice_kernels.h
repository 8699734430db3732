// The kernels of the superposed lattice over any vector instruction set, as vector_kernels.h has
// those of the field: the loops are here and in lattice_sweep.h, the instructions in `Isa` types in
// the unnamed namespace of a file such as lattice_avx512.cc. codec/kernels/lattice_table.h says
// what is computed.
//
// An Isa has
//   Real, Vector      kLanes Reals
//   load, store       aligned; load_any, store_any: anywhere
//   zero, all         0, or one number, in all lanes
//   add, multiply, multiply_add(a, b, c) = a b + c
//   sum_of_each(v)    of kLanes vectors: lane j is the sum of the lanes of v[j]
//   kRows             the longest sweep: it takes two registers for each row and some more
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/kernels/lattice_sweep.h"
#include "codec/kernels/lattice_table.h"

namespace firn::codec::lattice {

template <class Isa, int kRows, bool kUnitDeletion, Input kInput>
__attribute__((noinline)) void run_sweep(const SweepWork<typename Isa::Real>& work) {
  Sweep<Isa, kRows, kUnitDeletion, kInput> sweep(work);
  sweep.run();
}

// The sweep with that many rows: the one in 1..kRows.
template <class Isa, bool kUnitDeletion, Input kInput, int kRows = Isa::kRows>
void run_rows(std::size_t rows, const SweepWork<typename Isa::Real>& work) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return run_rows<Isa, kUnitDeletion, kInput, kRows - 1>(rows, work);
  }
  run_sweep<Isa, kRows, kUnitDeletion, kInput>(work);
}

// All rows of one chunk, into pass.work.
template <class Isa>
void run_chunk(const LatticePass<typename Isa::Real>& pass, std::size_t bits, std::size_t chunk) {
  SweepWork<typename Isa::Real> work{static_cast<std::ptrdiff_t>(pass.nodes),
                                     pass.first_row,
                                     pass.work,
                                     pass.table + chunk * bits * 3 * Isa::kLanes,
                                     pass.symbols,
                                     pass.insertion,
                                     pass.deletion,
                                     pass.insert_first ? pass.insertion : 0,
                                     pass.insertion};
  for (std::size_t i = 0; i < pass.sweep_count; ++i) {
    const auto [rows, unit_deletion] = pass.sweeps[i];
    if (i + 1 == pass.sweep_count && !pass.insert_last) work.last_insertion = 0;
    if (i == 0) {
      unit_deletion ? run_rows<Isa, true, Input::kNumbers>(rows, work)
                    : run_rows<Isa, false, Input::kNumbers>(rows, work);
    } else {
      unit_deletion ? run_rows<Isa, true, Input::kVectors>(rows, work)
                    : run_rows<Isa, false, Input::kVectors>(rows, work);
    }
    work.in = pass.work;
    work.table += rows * 3 * Isa::kLanes;
    work.symbols += rows;
  }
}

// kLanes nodes of a chunk's last row from node u on, times the priors: added to the sums of the
// chunks before, and to the joint. kWhole: none of them is behind the last node.
template <class Isa, bool kWhole>
FIRN_INLINE void add_nodes(const LatticePass<typename Isa::Real>& pass, std::size_t chunk,
                           std::size_t u, typename Isa::Real* sums,
                           typename Isa::Vector (&joint)[4]) {
  const auto prior = Isa::load(pass.priors + chunk * Isa::kLanes);
  typename Isa::Vector nodes[Isa::kLanes];
#pragma GCC unroll 16
  for (std::size_t j = 0; j < Isa::kLanes; ++j) {
    nodes[j] = Isa::zero();
    if (!kWhole && u + j >= pass.nodes) continue;
    nodes[j] = Isa::multiply(prior, Isa::load(pass.work + (u + j) * Isa::kLanes));
    if (pass.weights == nullptr) continue;
    // Four sums, as each waits for its last addition.
    const auto weight =
        Isa::all(pass.weights[static_cast<std::ptrdiff_t>(u + j) * pass.weight_step]);
    joint[j % 4] = Isa::multiply_add(weight, nodes[j], joint[j % 4]);
  }
  typename Isa::Real* const sums_here = sums + u * Isa::kLanes;
  if (chunk > 0) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < Isa::kLanes; ++j) {
      nodes[j] = Isa::add(nodes[j], Isa::load(sums_here + j * Isa::kLanes));
    }
  }
  if (chunk + 1 == pass.chunks) {
    Isa::store_any(pass.row_sums + u, Isa::sum_of_each(nodes));
    return;
  }
#pragma GCC unroll 16
  for (std::size_t j = 0; j < Isa::kLanes; ++j) {
    Isa::store(sums_here + j * Isa::kLanes, nodes[j]);
  }
}

template <class Isa>
__attribute__((noinline)) void add_last_row(const LatticePass<typename Isa::Real>& pass,
                                            std::size_t chunk, typename Isa::Real* sums) {
  typename Isa::Vector joint[4] = {Isa::zero(), Isa::zero(), Isa::zero(), Isa::zero()};
  std::size_t u = 0;
  for (; u + Isa::kLanes <= pass.nodes; u += Isa::kLanes) {
    add_nodes<Isa, true>(pass, chunk, u, sums, joint);
  }
  if (u < pass.nodes) add_nodes<Isa, false>(pass, chunk, u, sums, joint);
  if (pass.weights == nullptr) return;
  Isa::store(pass.joint + chunk * Isa::kLanes,
             Isa::add(Isa::add(joint[0], joint[1]), Isa::add(joint[2], joint[3])));
}

template <class Isa>
void run_pass(const LatticePass<typename Isa::Real>& pass) {
  std::size_t bits = 0;
  for (std::size_t i = 0; i < pass.sweep_count; ++i) bits += pass.sweeps[i].rows;
  typename Isa::Real* const sums = pass.work + pass.nodes * Isa::kLanes;
  for (std::size_t chunk = 0; chunk < pass.chunks; ++chunk) {
    run_chunk<Isa>(pass, bits, chunk);
    add_last_row<Isa>(pass, chunk, sums);
  }
}

template <class Isa>
typename Isa::Real normalise(typename Isa::Real* values, std::size_t count) {
  using Real = typename Isa::Real;
  constexpr Real kLargest = static_cast<Real>(sizeof(Real) == 4 ? 3e38 : 1e308);
  const std::size_t whole = count / Isa::kLanes * Isa::kLanes;
  auto lanes = Isa::zero();
  for (std::size_t i = 0; i < whole; i += Isa::kLanes)
    lanes = Isa::add(lanes, Isa::load_any(values + i));
  alignas(64) Real parts[Isa::kLanes];
  Isa::store(parts, lanes);
  Real sum = 0;
  for (const Real part : parts) sum += part;
  for (std::size_t i = whole; i < count; ++i) sum += values[i];
  if (!(sum > 0 && sum < kLargest)) return sum;
  const Real factor = 1 / sum;
  const auto factors = Isa::all(factor);
  for (std::size_t i = 0; i < whole; i += Isa::kLanes) {
    Isa::store_any(values + i, Isa::multiply(factors, Isa::load_any(values + i)));
  }
  for (std::size_t i = whole; i < count; ++i) values[i] *= factor;
  return sum;
}

template <class Isa>
constexpr LatticeOperations<typename Isa::Real> operations() {
  return {Isa::kLanes, static_cast<std::size_t>(Isa::kRows), run_pass<Isa>, normalise<Isa>};
}

}  // namespace firn::codec::lattice
