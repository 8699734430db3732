// The rows that a medium carries, and where each of them stands.
//
// A medium carries two streams: the content's manifest, and the content. Each consists of
// generations of n source blocks; row r < n of a generation is source block r as it is, row r >= n
// is a coded block whose vector follows from content, stream, generation and r. A row longer than a
// frame's payload is cut into slices, so that (generation, slice) is a code of its own: any n
// innovative rows of it give that slice of all source blocks. As a row's vector depends on nothing
// else, all media of one content complete each other. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/base/ids.h"
#include "proto/content/shape.h"

namespace firn::medium {

enum class Stream : std::uint8_t { kManifest, kContent };

struct RowSlice {
  std::uint32_t generation = 0;
  std::uint32_t row = 0;
  std::uint32_t slice = 0;
  bool operator==(const RowSlice&) const = default;
};

// n coefficients: a unit vector for row < n.
std::vector<std::uint8_t> row_vector(const ContentId& content, Stream stream,
                                     std::uint32_t generation, std::uint32_t row, std::size_t n);

// Rows of a generation beyond its n: `rows`, and `permille` of n (rounded up).
struct Spare {
  std::uint32_t rows = 0;
  std::uint32_t permille = 0;
  std::uint32_t of(std::uint32_t n) const {
    return rows + static_cast<std::uint32_t>((std::uint64_t{n} * permille + 999) / 1000);
  }
};

// All row slices of a stream in the order in which a medium carries them: row after row, slice
// after slice, and through all generations for each, so that a burst takes little of each
// generation.
class RowOrder {
 public:
  // rows_of[g]: rows of generation g; slices > 0.
  RowOrder(const std::vector<std::uint32_t>& rows_of, std::uint32_t slices);

  std::uint64_t count() const { return begin_of_row_.back(); }
  // index < count().
  RowSlice at(std::uint64_t index) const;

 private:
  std::vector<std::uint32_t> generations_;   // those with most rows first
  std::vector<std::uint64_t> begin_of_row_;  // of each row, and the end of the last
  std::uint32_t slices_;
};

// The generations of a manifest as a stream: blocks of one payload each.
struct ManifestShape {
  std::uint32_t bytes = 0;
  std::uint32_t block_bytes = 0;

  static constexpr std::uint32_t kBlocksMax = 256;  // in a generation
  std::uint32_t blocks() const { return (bytes + block_bytes - 1) / block_bytes; }
  std::uint32_t generations() const { return (blocks() + kBlocksMax - 1) / kBlocksMax; }
  std::uint32_t blocks_in(std::uint32_t generation) const {
    const std::uint32_t rest = blocks() - generation * kBlocksMax;
    return rest < kBlocksMax ? rest : kBlocksMax;
  }
  // Three times what is needed, and some more where little is needed.
  std::uint32_t rows_in(std::uint32_t generation) const { return 3 * blocks_in(generation) + 6; }
  std::vector<std::uint32_t> rows_of() const;
};

// Which row slice stands in which place of a medium. The manifest's rows stand in three runs, at
// the beginning, in the middle and at the end; the content's fill the places between.
class Layout {
 public:
  struct Place {
    Stream stream = Stream::kContent;
    std::uint64_t index = 0;  // in the stream's RowOrder
  };

  // manifest_rows, content_rows: counts of row slices.
  Layout(std::uint64_t manifest_rows, std::uint64_t content_rows);

  std::uint64_t count() const { return manifest_rows_ + content_rows_; }
  // place < count().
  Place at(std::uint64_t place) const;

 private:
  std::uint64_t manifest_rows_, content_rows_;
  std::uint64_t run_, middle_, last_;  // rows in the first two runs; where the runs begin
};

// Rows of each generation of a content: its blocks and the spare ones.
std::vector<std::uint32_t> content_rows(const Shape& shape, const Spare& spare);

}  // namespace firn::medium
