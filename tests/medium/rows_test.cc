#include "client/medium/rows.h"

#include <doctest/doctest.h>

#include <set>
#include <tuple>

#include "codec/span_basis.h"

namespace firn::medium {
namespace {

ContentId some_content(std::uint8_t first = 1) {
  ContentId id;
  id.bytes.fill(7);
  id.bytes[0] = first;
  return id;
}

TEST_CASE("medium rows: the first n rows are the source blocks, the others innovative") {
  const std::size_t n = 40;
  codec::SpanBasis basis(n);
  // Twenty source blocks are lost; coded rows replace them.
  for (std::uint32_t row = 0; row < 20; ++row)
    CHECK(basis.insert(row_vector(some_content(), Stream::kContent, 3, row, n)));
  std::uint32_t row = 40;
  while (!basis.full() && row < 70)
    basis.insert(row_vector(some_content(), Stream::kContent, 3, row++, n));
  CHECK(basis.full());
  CHECK(row <= 62);
}

TEST_CASE("medium rows: vectors follow from content, stream, generation and row") {
  const auto vector = [](std::uint8_t content, Stream stream, std::uint32_t g, std::uint32_t row) {
    return row_vector(some_content(content), stream, g, row, 16);
  };
  const auto one = vector(1, Stream::kContent, 2, 20);
  CHECK(one == vector(1, Stream::kContent, 2, 20));
  CHECK(one != vector(2, Stream::kContent, 2, 20));
  CHECK(one != vector(1, Stream::kManifest, 2, 20));
  CHECK(one != vector(1, Stream::kContent, 3, 20));
  CHECK(one != vector(1, Stream::kContent, 2, 21));
}

TEST_CASE("medium rows: an order holds every row slice once, the rows one after the other") {
  const std::vector<std::uint32_t> rows = {5, 2, 7, 5, 0};
  const RowOrder order(rows, 3);
  CHECK(order.count() == 3 * (5 + 2 + 7 + 5));
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> seen;
  std::uint32_t last_row = 0;
  for (std::uint64_t i = 0; i < order.count(); ++i) {
    const RowSlice at = order.at(i);
    CHECK(at.row >= last_row);
    last_row = at.row;
    CHECK(at.row < rows[at.generation]);
    CHECK(at.slice < 3);
    seen.insert({at.generation, at.row, at.slice});
  }
  CHECK(seen.size() == order.count());
  // Neighbours are of different generations, as long as several have the row.
  CHECK(order.at(0).generation != order.at(1).generation);
  CHECK(RowOrder({}, 1).count() == 0);
}

TEST_CASE(
    "medium rows: a layout has every row of both streams once, the manifest's in three runs") {
  for (const std::uint64_t manifest : {1, 2, 3, 4, 9, 100})
    for (const std::uint64_t content : {0, 1, 2, 50, 999}) {
      CAPTURE(manifest);
      CAPTURE(content);
      const Layout layout(manifest, content);
      REQUIRE(layout.count() == manifest + content);
      std::uint64_t next[2] = {};
      int runs = 0;
      bool before = false;
      for (std::uint64_t place = 0; place < layout.count(); ++place) {
        const Layout::Place at = layout.at(place);
        CHECK(at.index == next[static_cast<int>(at.stream)]++);
        const bool is_manifest = at.stream == Stream::kManifest;
        if (is_manifest && !before) ++runs;
        before = is_manifest;
      }
      CHECK(next[0] == manifest);
      CHECK(next[1] == content);
      CHECK(runs <= 3);
      if (manifest >= 9 && content >= 50) CHECK(runs == 3);
    }
}

TEST_CASE("medium rows: spare rows are a number and a share") {
  CHECK(Spare{5, 0}.of(1000) == 5);
  CHECK(Spare{5, 100}.of(1000) == 105);
  CHECK(Spare{0, 1}.of(1) == 1);
  Shape shape{4, 10, 65};
  CHECK(content_rows(shape, {2, 0}) == std::vector<std::uint32_t>{6, 5});
}

}  // namespace
}  // namespace firn::medium
