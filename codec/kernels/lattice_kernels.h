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
//   sum_of_each(in)   kLanes vectors at `in`, aligned: lane j is the sum of vector j
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

// Adds one chunk's last row, times the priors, to `sums` (or sets it), and makes its joint.
template <class Isa, bool kFirst>
void add_last_row(const LatticePass<typename Isa::Real>& pass, std::size_t chunk,
                  typename Isa::Real* sums) {
  const auto prior = Isa::load(pass.priors + chunk * Isa::kLanes);
  auto joint = Isa::zero();
  const typename Isa::Real* weight = pass.weights;
  for (std::size_t u = 0; u < pass.nodes; ++u) {
    const auto node = Isa::multiply(prior, Isa::load(pass.work + u * Isa::kLanes));
    typename Isa::Real* const sum = sums + u * Isa::kLanes;
    Isa::store(sum, kFirst ? node : Isa::add(Isa::load(sum), node));
    if (weight != nullptr) {
      joint = Isa::multiply_add(Isa::all(*weight), node, joint);
      if (u + 1 < pass.nodes) weight += pass.weight_step;
    }
  }
  if (weight != nullptr) Isa::store(pass.joint + chunk * Isa::kLanes, joint);
}

template <class Isa>
void run_pass(const LatticePass<typename Isa::Real>& pass) {
  std::size_t bits = 0;
  for (std::size_t i = 0; i < pass.sweep_count; ++i) bits += pass.sweeps[i].rows;
  typename Isa::Real* const sums = pass.work + (pass.nodes + 2) * Isa::kLanes;
  for (std::size_t chunk = 0; chunk < pass.chunks; ++chunk) {
    run_chunk<Isa>(pass, bits, chunk);
    chunk == 0 ? add_last_row<Isa, true>(pass, chunk, sums)
               : add_last_row<Isa, false>(pass, chunk, sums);
  }
  for (std::size_t u = 0; u < pass.nodes; u += Isa::kLanes) {
    Isa::store_any(pass.row_sums + u, Isa::sum_of_each(sums + u * Isa::kLanes));
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
