// The kernels over any vector instruction set: the loops are here, the instructions in the `Isa`
// type that a file such as avx2.cc defines in an unnamed namespace. (That gives all code made from
// these templates internal linkage: nothing built with one file's flags can serve another file.)
//
// An Isa has
//   Vector          kWidth bytes; load, store, zero, add (xor), load_first and store_first (only
//                   the first `bytes` < kWidth bytes; the rest loads as 0 and is not written)
//   Source          a Vector made ready to be multiplied; prepare(Vector)
//   Factor          a constant made ready to multiply by; factor(c)
//   multiply_add    accumulator + source * factor; multiply_add_two does two at once
//   kRows, kColumns accumulators of the blocked product: rows of the result x vectors of bytes
//   kTallRows       rows of a tile that is taller and narrower, of as many accumulators: for
//                   products of that few rows (kRows: there is none)
//   kSweepSources   how many sources are read side by side for a single long row
//   kPairs          whether the blocked product takes two sources a step
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/kernels/blocked_product.h"
#include "codec/kernels/table.h"

namespace firn::codec::vector_kernels {

template <class Isa>
void multiply(std::uint8_t* out, const std::uint8_t* in, std::uint8_t c, std::size_t bytes) {
  const auto factor = Isa::factor(c);
  const auto times_c = [&](typename Isa::Vector v) __attribute__((always_inline)) {
    return Isa::multiply_add(Isa::zero(), Isa::prepare(v), factor);
  };
  std::size_t i = 0;
  for (; i + Isa::kWidth <= bytes; i += Isa::kWidth) {
    Isa::store(out + i, times_c(Isa::load(in + i)));
  }
  if (i < bytes) {
    Isa::store_first(out + i, times_c(Isa::load_first(in + i, bytes - i)), bytes - i);
  }
}

template <class Isa>
void multiply_add(std::uint8_t* out, const std::uint8_t* in, std::uint8_t c, std::size_t bytes) {
  const auto factor = Isa::factor(c);
  std::size_t i = 0;
  for (; i + Isa::kWidth <= bytes; i += Isa::kWidth) {
    const auto source = Isa::prepare(Isa::load(in + i));
    Isa::store(out + i, Isa::multiply_add(Isa::load(out + i), source, factor));
  }
  if (i < bytes) {
    const auto source = Isa::prepare(Isa::load_first(in + i, bytes - i));
    const auto before = Isa::load_first(out + i, bytes - i);
    Isa::store_first(out + i, Isa::multiply_add(before, source, factor), bytes - i);
  }
}

// One row of kSources others, read side by side from `begin` to `end` (a whole number of vectors):
// few enough for the CPU to foresee its reads, which matters as each source is used only once. The
// sum of the sources before waits in `out`.
template <class Isa, std::size_t kSources>
__attribute__((noinline)) void run_sweep(std::uint8_t* out, const std::uint8_t* const* in,
                                         const std::uint8_t* coefficients, std::size_t begin,
                                         std::size_t end, bool add_to_out) {
  typename Isa::Factor factors[kSources];
  const std::uint8_t* rows[kSources];
  FIRN_UNROLL
  for (std::size_t j = 0; j < kSources; ++j) {
    factors[j] = Isa::factor(coefficients[j]);
    rows[j] = in[j];
  }
  for (std::size_t i = begin; i < end; i += Isa::kWidth) {
    auto sum = add_to_out ? Isa::load(out + i) : Isa::zero();
    FIRN_UNROLL
    for (std::size_t j = 0; j < kSources; ++j) {
      sum = Isa::multiply_add(sum, Isa::prepare(Isa::load(rows[j] + i)), factors[j]);
    }
    Isa::store(out + i, sum);
  }
}

// A sweep over as many sources as are left, 1..kSources.
template <class Isa, std::size_t kSources>
void run_sweep_of(std::size_t left, std::uint8_t* out, const std::uint8_t* const* in,
                  const std::uint8_t* coefficients, std::size_t begin, std::size_t end,
                  bool add_to_out) {
  if (left >= kSources) {
    run_sweep<Isa, kSources>(out, in, coefficients, begin, end, add_to_out);
  } else if constexpr (kSources > 1) {
    run_sweep_of<Isa, kSources - 1>(left, out, in, coefficients, begin, end, add_to_out);
  }
}

// The sum by sweeps over stretches of `out` that the first cache holds. Returns how many bytes of
// the row that is: whole vectors.
template <class Isa, std::size_t kSources>
std::size_t run_sweeps(std::uint8_t* out, const std::uint8_t* const* in,
                       const std::uint8_t* coefficients, std::size_t count, std::size_t bytes) {
  constexpr std::size_t kStretch = 16384;
  const std::size_t whole = bytes - bytes % Isa::kWidth;
  for (std::size_t begin = 0, end; begin < whole; begin = end) {
    end = whole - begin < kStretch ? whole : begin + kStretch;
    for (std::size_t j = 0; j < count; j += kSources) {
      run_sweep_of<Isa, kSources>(count - j, out, in + j, coefficients + j, begin, end, j > 0);
    }
  }
  return whole;
}

// Very short rows (coding vectors) are summed in registers. Sweeps over short rows take more
// sources, since each has its beginning and end.
template <class Isa>
void combine(std::uint8_t* out, const std::uint8_t* const* in, const std::uint8_t* coefficients,
             std::size_t count, std::size_t bytes) {
  if (bytes < 8 * Isa::kWidth || count == 0) {
    product<Isa, 1, Isa::kColumns>(&out, 1, in, count, coefficients, 0, bytes, false);
    return;
  }
  constexpr std::size_t kSources = Isa::kSweepSources;
  const std::size_t whole = bytes < 32 * Isa::kWidth
                                ? run_sweeps<Isa, 2 * kSources>(out, in, coefficients, count, bytes)
                                : run_sweeps<Isa, kSources>(out, in, coefficients, count, bytes);
  if (whole < bytes) {
    run_end<Isa, 1, 1>(1, {&out, in, nullptr, whole, bytes - whole, count, coefficients, 0, false});
  }
}

// Where tall tiles have room for all rows, each source is read once only.
template <class Isa>
void product_of_any(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
                    std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
                    std::size_t bytes, bool add_to_out) {
  if (rows > Isa::kRows && rows <= Isa::kTallRows) {
    constexpr std::size_t kColumns = Isa::kRows * Isa::kColumns / Isa::kTallRows;
    product<Isa, Isa::kTallRows, kColumns>(out, rows, in, count, coefficients, stride, bytes,
                                           add_to_out);
    return;
  }
  product<Isa, Isa::kRows, Isa::kColumns>(out, rows, in, count, coefficients, stride, bytes,
                                          add_to_out);
}

template <class Isa>
void combine_rows(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
                  std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
                  std::size_t bytes) {
  if (rows == 0) return;
  product_of_any<Isa>(out, rows, in, count, coefficients, stride, bytes, false);
}

// out[r] ^= coefficients[r * stride] * in for every row: the source stays in registers while the
// rows pass by. The step of an elimination.
template <class Isa, std::size_t kColumns>
void add_one_to_rows(std::size_t rows, const TileWork& work) {
  typename Isa::Source source[kColumns];
  Tile<Isa, 1, kColumns>::template load_source<From::kRows>(source, work, 0);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto factor = Isa::factor(work.coefficients[r * work.stride]);
    std::uint8_t* out = work.out[r] + work.offset;
    FIRN_UNROLL
    for (std::size_t c = 0; c < kColumns; ++c) {
      const auto before = Isa::load(out + c * Isa::kWidth);
      Isa::store(out + c * Isa::kWidth, Isa::multiply_add(before, source[c], factor));
    }
  }
}

template <class Isa>
void add_end_of_one_to_rows(std::size_t rows, const TileWork& work) {
  const auto source = Isa::prepare(Isa::load_first(work.in[0] + work.offset, work.width));
  for (std::size_t r = 0; r < rows; ++r) {
    const auto factor = Isa::factor(work.coefficients[r * work.stride]);
    std::uint8_t* out = work.out[r] + work.offset;
    const auto before = Isa::load_first(out, work.width);
    Isa::store_first(out, Isa::multiply_add(before, source, factor), work.width);
  }
}

template <class Isa>
void add_one_source(std::size_t rows, TileWork work, std::size_t bytes) {
  constexpr std::size_t kStrip = Isa::kColumns * Isa::kWidth;
  for (; work.offset + kStrip <= bytes; work.offset += kStrip) {
    add_one_to_rows<Isa, Isa::kColumns>(rows, work);
  }
  for (; work.offset + Isa::kWidth <= bytes; work.offset += Isa::kWidth) {
    add_one_to_rows<Isa, 1>(rows, work);
  }
  work.width = bytes - work.offset;
  if (work.width > 0) add_end_of_one_to_rows<Isa>(rows, work);
}

template <class Isa>
void add_rows(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
              std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
              std::size_t bytes) {
  if (rows == 0 || count == 0) return;
  if (count == 1) {
    add_one_source<Isa>(rows, {out, in, nullptr, 0, 0, 1, coefficients, stride, true}, bytes);
    return;
  }
  product_of_any<Isa>(out, rows, in, count, coefficients, stride, bytes, true);
}

template <class Isa>
void combine_panel(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* panel,
                   std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
                   bool add_to_out) {
  constexpr std::size_t kStrip = Isa::kColumns * Isa::kWidth;
  run_panel<Isa, Isa::kRows, Isa::kColumns>(
      rows, {out, nullptr, panel, 0, kStrip, count, coefficients, stride, add_to_out});
}

template <class Isa>
constexpr Kernels make_kernels(const char* name) {
  return {name,
          multiply<Isa>,
          multiply_add<Isa>,
          combine<Isa>,
          combine_rows<Isa>,
          add_rows<Isa>,
          Isa::kColumns * Isa::kWidth,
          combine_panel<Isa>};
}

}  // namespace firn::codec::vector_kernels
