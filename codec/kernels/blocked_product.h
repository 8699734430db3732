// The blocked product: strips of a few vectors of every row, made in tiles from panels of sources.
// Part of vector_kernels.h, which says what an Isa is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/kernels/tile.h"

namespace firn::codec::vector_kernels {

// Whether the next panel is packed while one is multiplied: where sources and results (as many
// bytes again) fill a common second cache by half, and the tiles have a step for each vector to be
// packed. Elsewhere the first tile of each strip packs as fast by itself.
template <class Isa, std::size_t kRows, std::size_t kColumns>
constexpr bool packs_ahead(std::size_t rows, std::size_t source_bytes) {
  constexpr std::size_t kBytes = 256 << 10, kSourcesAStep = Isa::kPairs ? 2 : 1;
  return kRows == Isa::kRows && rows > 2 * kRows && rows >= kRows * kColumns * kSourcesAStep &&
         source_bytes >= kBytes;
}

// All rows given, kRows at a time, from the panel.
template <class Isa, std::size_t kRows, std::size_t kColumns>
void run_panel(std::size_t rows, TileWork work) {
  for (; rows > 0; rows -= rows < kRows ? rows : kRows) {
    run_tile_of<Isa, kRows, kColumns, From::kPanel>(rows, work);
    work.out += kRows;
    work.coefficients += kRows * work.stride;
  }
}

// All rows of one strip, the first of them from the sources unless these are packed already. The
// tiles that find them in the panel share the packing of the next panel.
template <class Isa, std::size_t kRows, std::size_t kColumns>
void run_panel_and_pack(std::size_t rows, TileWork work, bool packed) {
  constexpr std::size_t kStrip = kColumns * Isa::kWidth;
  const auto go_on = [&] {
    work.out += kRows;
    work.coefficients += kRows * work.stride;
    rows -= rows < kRows ? rows : kRows;
  };
  if (!packed) {
    run_tile<Isa, kRows, kColumns, From::kRowsToPanel>(work);
    go_on();
  }
  const std::size_t tiles = (rows + kRows - 1) / kRows;
  const std::size_t share = (work.next.count + tiles - 1) / tiles;
  for (std::size_t left = work.next.count; left > 0; left -= work.next.count) {
    work.next.count = left < share ? left : share;
    run_tile_of<Isa, kRows, kColumns, From::kPanelAndPacks>(rows, work);
    work.next.in += share;
    work.next.panel += share * kStrip;
    go_on();
  }
  if (rows > 0) run_panel<Isa, kRows, kColumns>(rows, work);
}

// The whole strips of a product of more than 2 * kRows rows: while one panel is multiplied, the
// next is packed.
template <class Isa, std::size_t kRows, std::size_t kColumns>
void run_strips_packed_ahead(std::size_t rows, TileWork work, std::size_t bytes) {
  using Sources = Panel<Isa, kColumns>;
  Sources panels[2];  // in turn
  std::size_t turn = 0;
  const std::size_t parts = (work.count + Sources::kSources - 1) / Sources::kSources;
  const std::size_t count = (work.count + parts - 1) / parts;  // of sources in a panel
  bool packed = false;
  for (; work.offset < bytes; work.offset += Sources::kStrip) {
    TileWork part = work;
    std::size_t left = work.count;
    do {
      part.panel = panels[turn].bytes;
      part.count = left < count ? left : count;
      left -= part.count;
      if (left > 0) {
        part.next = {part.in + part.count, work.offset, nullptr, left < count ? left : count};
      } else {
        part.next = {work.in, work.offset + Sources::kStrip, nullptr, count};
        if (part.next.offset == bytes) part.next.count = 0;
      }
      part.next.panel = panels[1 - turn].bytes;
      run_panel_and_pack<Isa, kRows, kColumns>(rows, part, packed);
      packed = true;
      turn = 1 - turn;
      part.add_to_out = true;
      part.in += part.count;
      part.coefficients += part.count;
    } while (left > 0);
  }
}

// One strip of the product by itself: kColumns vectors of every row, from work.offset.
template <class Isa, std::size_t kRows, std::size_t kColumns>
void run_strip(std::size_t rows, TileWork work) {
  // Stores take longer than loads: a copy pays from the third use of a source.
  if (rows <= 2 * kRows) {
    for (; rows > 0; rows -= rows < kRows ? rows : kRows) {
      if (work.read_ahead) {
        run_tile_of<Isa, kRows, kColumns, From::kRowsAhead>(rows, work);
      } else {
        run_tile_of<Isa, kRows, kColumns, From::kRows>(rows, work);
      }
      work.out += kRows;
      work.coefficients += kRows * work.stride;
    }
    return;
  }
  Panel<Isa, kColumns> panel;
  work.panel = panel.bytes;
  std::size_t left = work.count;
  do {
    work.count = left < panel.kSources ? left : panel.kSources;
    run_tile<Isa, kRows, kColumns, From::kRowsToPanel>(work);
    TileWork rest = work;
    rest.out += kRows;
    rest.coefficients += kRows * work.stride;
    run_panel<Isa, kRows, kColumns>(rows - kRows, rest);
    work.add_to_out = true;
    work.in += work.count;
    work.coefficients += work.count;
    left -= work.count;
  } while (left > 0);
}

// The last strip, where it is less than kColumns whole vectors.
template <class Isa, std::size_t kRows, std::size_t kColumns>
void run_end(std::size_t rows, TileWork work) {
  if constexpr (kColumns > 1) {
    if (work.width <= (kColumns - 1) * Isa::kWidth) {
      run_end<Isa, kRows, kColumns - 1>(rows, work);
      return;
    }
  }
  if (rows <= 2 * kRows && work.width == kColumns * Isa::kWidth) {  // as in run_strip: no copies
    run_strip<Isa, kRows, kColumns>(rows, work);
    return;
  }
  if constexpr (kColumns > 1) {
    if (rows <= 2 * kRows) {  // copies of the last vector alone
      TileWork last = work;
      work.width = (kColumns - 1) * Isa::kWidth;
      last.offset += work.width;
      last.width -= work.width;
      run_end<Isa, kRows, kColumns - 1>(rows, work);
      run_end<Isa, kRows, 1>(rows, last);
      return;
    }
  }
  Panel<Isa, kColumns> panel;
  work.panel = panel.bytes;
  std::size_t left = work.count;
  do {
    work.count = left < panel.kSources ? left : panel.kSources;
    panel.gather_end(work);
    run_panel<Isa, kRows, kColumns>(rows, work);
    work.add_to_out = true;
    work.in += work.count;
    work.coefficients += work.count;
    left -= work.count;
  } while (left > 0);
}

template <class Isa, std::size_t kRows, std::size_t kColumns>
void product(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
             std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
             std::size_t bytes, bool add_to_out) {
  constexpr std::size_t kStrip = kColumns * Isa::kWidth;
  TileWork work{out, in, nullptr, 0, kStrip, count, coefficients, stride, add_to_out};
  const std::size_t whole = bytes - bytes % kStrip;
  if (packs_ahead<Isa, kRows, kColumns>(rows, count * whole)) {
    if constexpr (kRows == Isa::kRows) {
      run_strips_packed_ahead<Isa, kRows, kColumns>(rows, work, whole);
      work.offset = whole;
    }
  } else {
    work.read_ahead = needs_read_ahead<Isa>(in, count, bytes);
    for (; work.offset < whole; work.offset += kStrip) run_strip<Isa, kRows, kColumns>(rows, work);
  }
  if (work.offset == bytes) return;
  work.width = bytes - work.offset;
  run_end<Isa, kRows, kColumns>(rows, work);
}

}  // namespace firn::codec::vector_kernels
