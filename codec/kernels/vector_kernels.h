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
//   kSweepSources   how many sources are read side by side for a single long row
//   kPairs          whether the blocked product takes two sources a step
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__clang__)
#define FIRN_UNROLL _Pragma("unroll")
#else
#define FIRN_UNROLL _Pragma("GCC unroll 16")
#endif
#define FIRN_INLINE __attribute__((always_inline)) inline

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

// What a tile of the product works on: `width` bytes (at most its columns) from `offset` of kRows
// rows of `out`. Sources can be read to the tile's full width.
struct TileWork {
  std::uint8_t* const* out;
  std::size_t offset;
  std::size_t width;
  const std::uint8_t* const* in;
  std::size_t in_offset;
  std::size_t count;
  const std::uint8_t* coefficients;
  std::size_t stride;
  bool add_to_out;
};

// Accumulators of rows x columns vectors stay in registers while the sources pass by.
template <class Isa, std::size_t kRows, std::size_t kColumns>
struct Tile {
  typename Isa::Vector sums[kRows][kColumns];

  FIRN_INLINE void clear() {
    FIRN_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      FIRN_UNROLL
      for (std::size_t c = 0; c < kColumns; ++c) sums[r][c] = Isa::zero();
    }
  }

  FIRN_INLINE static void load_source(typename Isa::Source (&source)[kColumns],
                                      const std::uint8_t* in) {
    FIRN_UNROLL
    for (std::size_t c = 0; c < kColumns; ++c) {
      source[c] = Isa::prepare(Isa::load(in + c * Isa::kWidth));
    }
  }

  // coefficients: of row 0 for this source; the other rows' stand `stride` bytes apart.
  FIRN_INLINE void add_one(const std::uint8_t* in, const std::uint8_t* coefficients,
                           std::size_t stride) {
    typename Isa::Source source[kColumns];
    load_source(source, in);
    FIRN_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto factor = Isa::factor(coefficients[r * stride]);
      FIRN_UNROLL
      for (std::size_t c = 0; c < kColumns; ++c) {
        sums[r][c] = Isa::multiply_add(sums[r][c], source[c], factor);
      }
    }
  }

  FIRN_INLINE void add_two(const std::uint8_t* in0, const std::uint8_t* in1,
                           const std::uint8_t* coefficients, std::size_t stride) {
    typename Isa::Source source0[kColumns], source1[kColumns];
    load_source(source0, in0);
    load_source(source1, in1);
    FIRN_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto factor0 = Isa::factor(coefficients[r * stride]);
      const auto factor1 = Isa::factor(coefficients[r * stride + 1]);
      FIRN_UNROLL
      for (std::size_t c = 0; c < kColumns; ++c) {
        sums[r][c] = Isa::multiply_add_two(sums[r][c], source0[c], factor0, source1[c], factor1);
      }
    }
  }

  FIRN_INLINE void write(const TileWork& work) const {
    if (work.width == kColumns * Isa::kWidth) {
      FIRN_UNROLL
      for (std::size_t r = 0; r < kRows; ++r) {
        std::uint8_t* out = work.out[r] + work.offset;
        FIRN_UNROLL
        for (std::size_t c = 0; c < kColumns; ++c) {
          auto sum = sums[r][c];
          if (work.add_to_out) sum = Isa::add(sum, Isa::load(out + c * Isa::kWidth));
          Isa::store(out + c * Isa::kWidth, sum);
        }
      }
      return;
    }
    if constexpr (kColumns == 1) {  // only one-column tiles are used where a row ends
      FIRN_UNROLL
      for (std::size_t r = 0; r < kRows; ++r) {
        std::uint8_t* out = work.out[r] + work.offset;
        auto sum = sums[r][0];
        if (work.add_to_out) sum = Isa::add(sum, Isa::load_first(out, work.width));
        Isa::store_first(out, sum, work.width);
      }
    }
  }
};

template <class Isa, std::size_t kRows, std::size_t kColumns>
__attribute__((noinline)) void run_tile(const TileWork& work) {
  Tile<Isa, kRows, kColumns> tile;
  tile.clear();
  const std::uint8_t* const* in = work.in;
  const std::uint8_t* coefficients = work.coefficients;
  const std::size_t in_offset = work.in_offset, stride = work.stride;
  std::size_t left = work.count;
  if constexpr (Isa::kPairs) {
    for (; left >= 2; left -= 2, in += 2, coefficients += 2) {
      tile.add_two(in[0] + in_offset, in[1] + in_offset, coefficients, stride);
    }
  }
  for (; left > 0; --left, ++in, ++coefficients) {
    tile.add_one(in[0] + in_offset, coefficients, stride);
  }
  tile.write(work);
}

// A tile with as many rows as are left, 1..kRows.
template <class Isa, std::size_t kRows, std::size_t kColumns>
void run_tile_of(std::size_t rows, const TileWork& work) {
  if (rows >= kRows) {
    run_tile<Isa, kRows, kColumns>(work);
  } else if constexpr (kRows > 1) {
    run_tile_of<Isa, kRows - 1, kColumns>(rows, work);
  }
}

// Sources gathered side by side, so that the rows of the result find them in the first cache
// however far apart (or how unluckily aligned to each other) the source rows are. Where a source
// row ends, the copy goes on with zeros: tiles read whole vectors.
template <class Isa, std::size_t kColumns>
struct Panel {
  static constexpr std::size_t kSources = 64;
  static constexpr std::size_t kStrip = kColumns * Isa::kWidth;
  alignas(64) std::uint8_t bytes[kSources * kStrip];
  const std::uint8_t* rows[kSources];

  void gather(const std::uint8_t* const* in, std::size_t count, std::size_t offset,
              std::size_t width) {
    for (std::size_t j = 0; j < count; ++j) {
      std::uint8_t* to = bytes + j * kStrip;
      const std::uint8_t* from = in[j] + offset;
      rows[j] = to;
      if (width == kStrip) {
        FIRN_UNROLL
        for (std::size_t c = 0; c < kColumns; ++c) {
          Isa::store(to + c * Isa::kWidth, Isa::load(from + c * Isa::kWidth));
        }
      } else {
        Isa::store(to, Isa::load_first(from, width));
      }
    }
  }
};

// One strip of the product: the bytes `offset`..`offset + width` of every row. width is kColumns
// vectors, or less than one vector where kColumns is 1.
template <class Isa, std::size_t kRows, std::size_t kColumns>
void run_strip(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
               std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
               std::size_t offset, std::size_t width) {
  TileWork work{out, offset, width, in, offset, count, coefficients, stride, false};
  if (rows <= kRows && width == kColumns * Isa::kWidth) {  // each source is read once: no copies
    run_tile_of<Isa, kRows, kColumns>(rows, work);
    return;
  }
  Panel<Isa, kColumns> panel;
  work.in = panel.rows;
  work.in_offset = 0;
  std::size_t first = 0;
  do {
    work.count = count - first < panel.kSources ? count - first : panel.kSources;
    panel.gather(in + first, work.count, offset, width);
    for (std::size_t r = 0; r < rows; r += kRows) {
      work.out = out + r;
      work.coefficients = coefficients + r * stride + first;
      run_tile_of<Isa, kRows, kColumns>(rows - r, work);
    }
    work.add_to_out = true;
    first += work.count;
  } while (first < count);
}

template <class Isa, std::size_t kRows, std::size_t kColumns>
void product(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
             std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
             std::size_t bytes) {
  constexpr std::size_t kStrip = kColumns * Isa::kWidth;
  std::size_t i = 0;
  for (; i + kStrip <= bytes; i += kStrip) {
    run_strip<Isa, kRows, kColumns>(out, rows, in, count, coefficients, stride, i, kStrip);
  }
  for (; i < bytes; i += Isa::kWidth) {
    const std::size_t width = bytes - i < Isa::kWidth ? bytes - i : Isa::kWidth;
    run_strip<Isa, kRows, 1>(out, rows, in, count, coefficients, stride, i, width);
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

// Short rows (coding vectors) are summed in registers, long ones in sweeps over stretches of `out`
// that the first cache holds.
template <class Isa>
void combine(std::uint8_t* out, const std::uint8_t* const* in, const std::uint8_t* coefficients,
             std::size_t count, std::size_t bytes) {
  constexpr std::size_t kSources = Isa::kSweepSources;
  constexpr std::size_t kStretch = 16384;
  if (bytes < 8 * Isa::kWidth || count == 0) {
    product<Isa, 1, Isa::kColumns>(&out, 1, in, count, coefficients, 0, bytes);
    return;
  }
  const std::size_t whole = bytes - bytes % Isa::kWidth;
  for (std::size_t begin = 0, end; begin < whole; begin = end) {
    end = whole - begin < kStretch ? whole : begin + kStretch;
    for (std::size_t j = 0; j < count; j += kSources) {
      run_sweep_of<Isa, kSources>(count - j, out, in + j, coefficients + j, begin, end, j > 0);
    }
  }
  if (whole < bytes) {
    run_strip<Isa, 1, 1>(&out, 1, in, count, coefficients, 0, whole, bytes - whole);
  }
}

template <class Isa>
void combine_rows(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
                  std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
                  std::size_t bytes) {
  if (rows == 0) return;
  product<Isa, Isa::kRows, Isa::kColumns>(out, rows, in, count, coefficients, stride, bytes);
}

}  // namespace firn::codec::vector_kernels
