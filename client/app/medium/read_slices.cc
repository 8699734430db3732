#include "client/app/medium/read_slices.h"

#include <algorithm>

#include "client/medium/rows.h"

namespace firn::app {

using medium::Layout;
using medium::RowOrder;
using medium::RowSlice;
using medium::Stream;

ReadSlices::ReadSlices(const Manifest& manifest, std::span<const MediumJournal> media)
    : manifest_(&manifest), media_(media), slices_(manifest.info.shape.generation_count()) {}

Result<ReadSlices> ReadSlices::of(const Manifest& manifest, std::span<const MediumJournal> media) {
  ReadSlices slices(manifest, media);
  for (std::uint32_t medium = 0; medium < media.size(); ++medium) {
    if (slices.fits(media[medium].label())) {
      slices.sort(medium);
    } else if (!media[medium].earlier) {
      return Error{ErrorCode::kBadInput, "read " + media[medium].name,
                   "its label does not fit the content's manifest"};
    }
  }
  slices.cuts_.push_back(manifest.info.shape.block_bytes);
  std::sort(slices.cuts_.begin(), slices.cuts_.end());
  const auto last = std::unique(slices.cuts_.begin(), slices.cuts_.end());
  slices.cuts_.erase(last, slices.cuts_.end());
  return slices;
}

namespace {

RowOrder content_order(const Shape& shape, const medium::Label& label) {
  return {medium::content_rows(shape, label.spare), label.slices()};
}

Layout layout_of(const medium::Label& label, const RowOrder& order) {
  return {RowOrder(label.manifest_shape().rows_of(), 1).count(), order.count()};
}

}  // namespace

bool ReadSlices::fits(const medium::Label& label) const {
  const Shape& shape = manifest_->info.shape;
  if (label.content != manifest_->id || label.block_bytes != shape.block_bytes) return false;
  return label.place_count == layout_of(label, content_order(shape, label)).count();
}

void ReadSlices::sort(std::uint32_t medium) {
  const Shape& shape = manifest_->info.shape;
  const medium::Label& label = media_[medium].label();
  const RowOrder order = content_order(shape, label);
  const Layout layout = layout_of(label, order);
  for (const std::uint64_t place : media_[medium].rows->places()) {
    if (place >= layout.count()) continue;
    const Layout::Place at = layout.at(place);
    if (at.stream != Stream::kContent) continue;
    const RowSlice row = order.at(at.index);
    slices_[row.generation].push_back(
        {medium, row.row, row.slice, static_cast<std::uint32_t>(place)});
  }
  for (std::size_t cut = 0; cut < shape.block_bytes; cut += label.payload_bytes())
    cuts_.push_back(cut);
}

ReadSlices::Chosen ReadSlices::media_of(std::uint32_t generation) const {
  Chosen media;
  for (const Slice& slice : slices_[generation])  // medium after medium
    if (media.empty() || media.back() != slice.medium) media.push_back(slice.medium);
  return media;
}

Result<medium::GenerationRows> ReadSlices::rows_of(std::uint32_t generation,
                                                   const Chosen& media) const {
  const Shape& shape = manifest_->info.shape;
  const std::uint32_t n = shape.blocks_in(generation);
  medium::GenerationRows rows(n, cuts_);
  for (const Slice& slice : slices_[generation]) {
    if (!std::binary_search(media.begin(), media.end(), slice.medium)) continue;
    const auto payload = media_[slice.medium].rows->payload(slice.place);
    if (!payload.ok()) return payload.error();
    const std::size_t bytes = media_[slice.medium].label().payload_bytes();
    const std::size_t first = slice.slice * bytes;
    rows.add(slice.row,
             medium::row_vector(manifest_->id, Stream::kContent, generation, slice.row, n), first,
             std::span(**payload).first(std::min<std::size_t>(bytes, shape.block_bytes - first)));
  }
  return rows;
}

}  // namespace firn::app
