#include "client/medium/rows.h"

#include <algorithm>
#include <numeric>

#include "codec/encode.h"
#include "codec/random.h"
#include "proto/base/result.h"

namespace firn::medium {
namespace {

// Streams of coefficients differ in their seed: the content's id, changed for the manifest.
constexpr std::uint64_t kManifestSeed = 0x6d616e6966657374;

}  // namespace

std::vector<std::uint8_t> row_vector(const ContentId& content, Stream stream,
                                     std::uint32_t generation, std::uint32_t row, std::size_t n) {
  if (row < n) return codec::unit_vector(n, row);
  const std::uint64_t seed =
      content.prefix() ^ (stream == Stream::kManifest ? kManifestSeed : std::uint64_t{0});
  codec::CoefficientStream random(seed, std::uint64_t{generation} << 32 | row);
  return codec::random_vector(n, random);
}

RowOrder::RowOrder(const std::vector<std::uint32_t>& rows_of, std::uint32_t slices)
    : generations_(rows_of.size()), slices_(slices) {
  std::iota(generations_.begin(), generations_.end(), 0u);
  std::stable_sort(generations_.begin(), generations_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rows_of[a] > rows_of[b]; });
  begin_of_row_.push_back(0);
  std::size_t having = generations_.size();  // the row at hand
  for (std::uint32_t row = 0;; ++row) {
    while (having > 0 && rows_of[generations_[having - 1]] <= row) --having;
    if (having == 0) return;
    begin_of_row_.push_back(begin_of_row_.back() + having * slices_);
  }
}

RowSlice RowOrder::at(std::uint64_t index) const {
  FIRN_CHECK(index < count());
  const auto next = std::upper_bound(begin_of_row_.begin(), begin_of_row_.end(), index);
  const auto row = static_cast<std::size_t>(next - begin_of_row_.begin()) - 1;
  const std::uint64_t having = (begin_of_row_[row + 1] - begin_of_row_[row]) / slices_;
  const std::uint64_t rest = index - begin_of_row_[row];
  return {generations_[rest % having], static_cast<std::uint32_t>(row),
          static_cast<std::uint32_t>(rest / having)};
}

std::vector<std::uint32_t> ManifestShape::rows_of() const {
  std::vector<std::uint32_t> rows(generations());
  for (std::uint32_t g = 0; g < rows.size(); ++g) rows[g] = rows_in(g);
  return rows;
}

Layout::Layout(std::uint64_t manifest_rows, std::uint64_t content_rows)
    : manifest_rows_(manifest_rows),
      content_rows_(content_rows),
      run_((manifest_rows + 2) / 3),
      middle_(run_ + content_rows / 2),
      last_(run_ + std::min(run_, manifest_rows - run_) + content_rows) {}

Layout::Place Layout::at(std::uint64_t place) const {
  FIRN_CHECK(place < count());
  const std::uint64_t second = std::min(run_, manifest_rows_ - run_);  // rows of the second run
  if (place < run_) return {Stream::kManifest, place};
  if (place < middle_) return {Stream::kContent, place - run_};
  if (place < middle_ + second) return {Stream::kManifest, run_ + place - middle_};
  if (place < last_) return {Stream::kContent, place - run_ - second};
  return {Stream::kManifest, place - content_rows_};
}

std::vector<std::uint32_t> content_rows(const Shape& shape, const Spare& spare) {
  std::vector<std::uint32_t> rows(shape.generation_count());
  for (std::uint32_t g = 0; g < rows.size(); ++g)
    rows[g] = shape.blocks_in(g) + spare.of(shape.blocks_in(g));
  return rows;
}

}  // namespace firn::medium
