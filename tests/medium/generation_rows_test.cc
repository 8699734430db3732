#include "client/medium/generation_rows.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "client/medium/rows.h"
#include "codec/kernels.h"
#include "codec/random.h"

namespace firn::medium {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kBlocks = 12, kBlockBytes = 100;

struct Content {
  Bytes data = Bytes(kBlocks * kBlockBytes);
  ContentId id;

  Content() {
    codec::CoefficientStream random(1, 2);
    random.fill(data);
    id.bytes.fill(9);
  }
  Bytes vector(std::uint32_t row) const {
    return row_vector(id, Stream::kContent, 0, row, kBlocks);
  }
  Bytes payload(std::uint32_t row) const {
    std::vector<const std::uint8_t*> blocks;
    for (std::size_t i = 0; i < kBlocks; ++i) blocks.push_back(data.data() + i * kBlockBytes);
    Bytes bytes(kBlockBytes);
    codec::kernels().combine(bytes.data(), blocks.data(), vector(row).data(), kBlocks, kBlockBytes);
    return bytes;
  }
  void add(GenerationRows& rows, std::uint32_t row, std::size_t first, std::size_t end) const {
    const Bytes bytes = payload(row);
    rows.add(row, vector(row), first, std::span(bytes).subspan(first, end - first));
  }
};

TEST_CASE("generation rows: pieces that lack different rows decode on their own") {
  const Content content;
  GenerationRows rows(kBlocks, {0, 40, 80, 100});
  // Two rows beyond n; each piece lacks two others, so that no row but the last few is whole.
  const std::size_t cuts[] = {0, 40, 80, 100};
  for (std::uint32_t row = 0; row < kBlocks + 2; ++row)
    for (std::uint32_t piece = 0; piece < 3; ++piece)
      if (row / 2 != piece) content.add(rows, row, cuts[piece], cuts[piece + 1]);
  Bytes data(kBlocks * kBlockBytes);
  CHECK(rows.decode(data));
  CHECK(rows.missing() == 0);
  CHECK(data == content.data);
}

TEST_CASE("generation rows: media that cut rows otherwise complete each other") {
  const Content content;
  // One cuts at 60, the other at 35 and 70: the pieces end at 35, 60, 70 and 100.
  GenerationRows rows(kBlocks, {0, 35, 60, 70, 100});
  for (std::uint32_t row = 0; row < kBlocks; ++row) {
    if (row % 2 == 0) {
      content.add(rows, row, 0, 60);
      content.add(rows, row, 60, 100);
    } else {
      for (const auto& [first, end] : {std::pair(0, 35), std::pair(35, 70), std::pair(70, 100)})
        content.add(rows, row, static_cast<std::size_t>(first), static_cast<std::size_t>(end));
    }
  }
  Bytes data(kBlocks * kBlockBytes);
  CHECK(rows.decode(data));
  CHECK(data == content.data);
}

TEST_CASE("generation rows: what lacks is counted, and rows that are known in whole are told") {
  const Content content;
  GenerationRows rows(kBlocks, {0, 50, 100});
  // The first piece of all rows but the last three is there, and enough of the second.
  for (std::uint32_t row = 0; row < kBlocks + 4; ++row) {
    if (row < kBlocks - 3) content.add(rows, row, 0, 50);
    if (row >= 4) content.add(rows, row, 50, 100);
  }
  Bytes data(kBlocks * kBlockBytes);
  CHECK_FALSE(rows.decode(data));
  CHECK(rows.missing() == 3);
  // The second piece decodes, so that of these rows it need not have been read.
  const auto whole = rows.whole_rows(data);
  REQUIRE(whole.size() == kBlocks - 3);
  for (std::uint32_t row = 0; row < whole.size(); ++row) {
    CHECK(whole[row].vector == content.vector(row));
    CHECK(whole[row].payload == content.payload(row));
  }
}

TEST_CASE("generation rows: rows without a number count, and are not told again") {
  const Content content;
  GenerationRows rows(kBlocks, {0, 100});
  for (std::uint32_t row = 0; row < 5; ++row) content.add(rows, row, 0, 100);
  // One of them twice.
  for (std::uint32_t row = 4; row < kBlocks - 1; ++row)
    rows.add_whole(content.vector(row), content.payload(row));
  Bytes data(kBlocks * kBlockBytes);
  CHECK_FALSE(rows.decode(data));
  CHECK(rows.missing() == 1);
  CHECK(rows.whole_rows(data).size() == 5);
  rows.add_whole(content.vector(kBlocks + 7), content.payload(kBlocks + 7));
  CHECK(rows.decode(data));
  CHECK(data == content.data);
}

TEST_CASE("generation rows: of what is told twice the first word counts, piece by piece") {
  const Content content;
  GenerationRows rows(kBlocks, {0, 50, 100});
  content.add(rows, 0, 0, 50);
  rows.add(0, content.vector(0), 0, Bytes(50));  // false, and later
  content.add(rows, 0, 50, 100);
  for (std::uint32_t row = 1; row < kBlocks; ++row) content.add(rows, row, 0, 100);
  rows.add(1, content.vector(1), 0, Bytes(100));
  Bytes data(kBlocks * kBlockBytes);
  CHECK(rows.decode(data));
  CHECK(data == content.data);
}

}  // namespace
}  // namespace firn::medium
