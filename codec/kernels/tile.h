// A tile of the blocked product: some rows x some vectors of sums that stay in registers while the
// sources pass by, from the rows themselves or from a panel of copies. Part of vector_kernels.h,
// which says what an Isa is.
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

// Where a tile finds its sources.
enum class From {
  kRows,           // in the rows themselves, each source being used once
  kRowsAhead,      // the same, and asks for what the next strips will read
  kRowsToPanel,    // in the rows, and copies them into the panel on the way
  kPanel,          // in the panel
  kPanelAndPacks,  // in the panel, and copies sources into the next panel on the way
};

// Sources to be copied side by side into a panel: a strip of each.
struct Packing {
  const std::uint8_t* const* in;
  std::size_t offset;
  std::uint8_t* panel;
  std::size_t count;
};

// What a tile of the product works on: `width` bytes from `offset` of some rows of `out`.
struct TileWork {
  std::uint8_t* const* out;
  const std::uint8_t* const* in;
  const std::uint8_t* panel;
  std::size_t offset, width;
  std::size_t count;  // of sources
  const std::uint8_t* coefficients;
  std::size_t stride;
  bool add_to_out;
  bool read_ahead = false;
  Packing next{};
};

// Rows that lie a multiple of 4 KiB apart fall on the same places in the first cache, where what
// the CPU fetches ahead by itself is pushed out again before its use. Where they also do not fit in
// the second cache, that has to be asked to fetch ahead. (It costs more than it brings otherwise.)
constexpr std::size_t kReadAheadBytes = 512;

template <class Isa>
FIRN_INLINE bool needs_read_ahead(const std::uint8_t* const* in, std::size_t count,
                                  std::size_t bytes) {
  constexpr std::size_t kSecondCache = 1 << 20, kSamePlaces = 4096;
  return count > 1 && count * bytes >= kSecondCache &&
         (reinterpret_cast<std::uintptr_t>(in[1]) - reinterpret_cast<std::uintptr_t>(in[0])) %
                 kSamePlaces ==
             0;
}

// Sources copied side by side, so that the rows of the result find them in the first cache however
// far apart (or how unluckily aligned to each other) the source rows are. 32 KiB at most.
template <class Isa, std::size_t kColumns>
struct Panel {
  static constexpr std::size_t kSources = 128;
  static constexpr std::size_t kStrip = kColumns * Isa::kWidth;
  alignas(64) std::uint8_t bytes[kSources * kStrip];

  // Less than a strip of each row: behind it stand zeros up to a whole number of vectors.
  void gather_end(const TileWork& work) {
    const std::size_t columns = (work.width + Isa::kWidth - 1) / Isa::kWidth;
    const std::size_t last = (columns - 1) * Isa::kWidth;
    for (std::size_t j = 0; j < work.count; ++j) {
      const std::uint8_t* from = work.in[j] + work.offset;
      std::uint8_t* to = bytes + j * columns * Isa::kWidth;
      for (std::size_t i = 0; i < last; i += Isa::kWidth) Isa::store(to + i, Isa::load(from + i));
      const bool whole = work.width - last == Isa::kWidth;
      Isa::store(to + last,
                 whole ? Isa::load(from + last) : Isa::load_first(from + last, work.width - last));
    }
  }
};

// Copies one vector at each step of a tile: the wait for it is hidden behind the arithmetic. Asks
// for the same place of the strip after that, which touches nothing and so may pass a row's end.
template <class Isa, std::size_t kColumns>
class Packer {
 public:
  FIRN_INLINE explicit Packer(const Packing& packing)
      : packing_(packing), vectors_(packing.count * kColumns) {}

  FIRN_INLINE void step() {
    if (done_ == vectors_) return;
    constexpr int kToRead = 0, kSecondCache = 2;
    const std::uint8_t* from =
        packing_.in[done_ / kColumns] + packing_.offset + done_ % kColumns * Isa::kWidth;
    __builtin_prefetch(from + kColumns * Isa::kWidth, kToRead, kSecondCache);
    Isa::store(packing_.panel + done_ * Isa::kWidth, Isa::load(from));
    ++done_;
  }
  FIRN_INLINE void finish() {
    while (done_ < vectors_) step();
  }

 private:
  const Packing packing_;
  const std::size_t vectors_;
  std::size_t done_ = 0;
};

// Accumulators of kRows x kColumns vectors stay in registers while the sources pass by.
template <class Isa, std::size_t kRows, std::size_t kColumns>
struct Tile {
  static constexpr std::size_t kStrip = kColumns * Isa::kWidth;
  typename Isa::Vector sums[kRows][kColumns];

  FIRN_INLINE void clear() {
    FIRN_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      FIRN_UNROLL
      for (std::size_t c = 0; c < kColumns; ++c) sums[r][c] = Isa::zero();
    }
  }

  template <From kFrom>
  FIRN_INLINE static void load_source(typename Isa::Source (&source)[kColumns],
                                      const TileWork& work, std::size_t j) {
    const std::uint8_t* in =
        kFrom == From::kPanel ? work.panel + j * kStrip : work.in[j] + work.offset;
    if constexpr (kFrom == From::kRowsAhead) {  // touches nothing, so it may pass a row's end
      constexpr int kToRead = 0, kSecondCache = 2;
      FIRN_UNROLL
      for (std::size_t i = 0; i < kStrip; i += 64) {
        __builtin_prefetch(in + kReadAheadBytes + i, kToRead, kSecondCache);
      }
    }
    FIRN_UNROLL
    for (std::size_t c = 0; c < kColumns; ++c) {
      const auto bytes = Isa::load(in + c * Isa::kWidth);
      if constexpr (kFrom == From::kRowsToPanel) {
        Isa::store(const_cast<std::uint8_t*>(work.panel) + j * kStrip + c * Isa::kWidth, bytes);
      }
      source[c] = Isa::prepare(bytes);
    }
  }

  template <From kFrom>
  FIRN_INLINE void add_one(const TileWork& work, std::size_t j) {
    typename Isa::Source source[kColumns];
    load_source<kFrom>(source, work, j);
    FIRN_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto factor = Isa::factor(work.coefficients[r * work.stride + j]);
      FIRN_UNROLL
      for (std::size_t c = 0; c < kColumns; ++c) {
        sums[r][c] = Isa::multiply_add(sums[r][c], source[c], factor);
      }
    }
  }

  template <From kFrom>
  FIRN_INLINE void add_two(const TileWork& work, std::size_t j) {
    typename Isa::Source source0[kColumns], source1[kColumns];
    load_source<kFrom>(source0, work, j);
    load_source<kFrom>(source1, work, j + 1);
    FIRN_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::uint8_t* coefficients = work.coefficients + r * work.stride + j;
      const auto factor0 = Isa::factor(coefficients[0]);
      const auto factor1 = Isa::factor(coefficients[1]);
      FIRN_UNROLL
      for (std::size_t c = 0; c < kColumns; ++c) {
        sums[r][c] = Isa::multiply_add_two(sums[r][c], source0[c], factor0, source1[c], factor1);
      }
    }
  }

  FIRN_INLINE void write(const TileWork& work) const {
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
  }

  // Where a row ends: the last vector is not whole.
  FIRN_INLINE void write_end(const TileWork& work) const {
    const std::size_t last = work.width - (kColumns - 1) * Isa::kWidth;
    FIRN_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      std::uint8_t* out = work.out[r] + work.offset;
      FIRN_UNROLL
      for (std::size_t c = 0; c < kColumns; ++c, out += Isa::kWidth) {
        auto sum = sums[r][c];
        if (c + 1 < kColumns || last == Isa::kWidth) {
          if (work.add_to_out) sum = Isa::add(sum, Isa::load(out));
          Isa::store(out, sum);
        } else {
          if (work.add_to_out) sum = Isa::add(sum, Isa::load_first(out, last));
          Isa::store_first(out, sum, last);
        }
      }
    }
  }
};

template <class Isa, std::size_t kRows, std::size_t kColumns, From kFrom>
__attribute__((noinline)) void run_tile(const TileWork& given) {
  const TileWork work = given;  // nothing that is written through a pointer can change the copy
  constexpr bool kPacks = kFrom == From::kPanelAndPacks;
  constexpr From kSources = kPacks ? From::kPanel : kFrom;
  Packer<Isa, kColumns> packer(work.next);
  Tile<Isa, kRows, kColumns> tile;
  tile.clear();
  std::size_t j = 0;
  if constexpr (Isa::kPairs) {
    for (; j + 2 <= work.count; j += 2) {
      if constexpr (kPacks) packer.step();
      tile.template add_two<kSources>(work, j);
    }
  }
  for (; j < work.count; ++j) {
    if constexpr (kPacks) packer.step();
    tile.template add_one<kSources>(work, j);
  }
  if constexpr (kPacks) packer.finish();
  if (kPacks || work.width == tile.kStrip) {
    tile.write(work);
  } else {
    tile.write_end(work);
  }
}

// A tile with as many rows as are left, 1..kRows.
template <class Isa, std::size_t kRows, std::size_t kColumns, From kFrom>
void run_tile_of(std::size_t rows, const TileWork& work) {
  if (rows >= kRows) {
    run_tile<Isa, kRows, kColumns, kFrom>(work);
  } else if constexpr (kRows > 1) {
    run_tile_of<Isa, kRows - 1, kColumns, kFrom>(rows, work);
  }
}

}  // namespace firn::codec::vector_kernels
