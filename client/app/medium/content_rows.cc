#include "client/app/medium/content_rows.h"

#include <algorithm>
#include <cstring>

#include "client/content/division.h"
#include "client/store/posix_files.h"
#include "codec/kernels.h"
#include "codec/product.h"

namespace firn::app {
namespace {

std::vector<std::uint8_t> whole_blocks(const Manifest& manifest, const medium::Label& label) {
  std::vector<std::uint8_t> bytes(manifest.file_bytes.begin(), manifest.file_bytes.end());
  const auto shape = label.manifest_shape();
  bytes.resize(std::size_t{shape.blocks()} * shape.block_bytes);
  return bytes;
}

}  // namespace

ContentRows::ContentRows(const Manifest& manifest, const std::string& as,
                         const medium::Label& label, const Watch& watch)
    : manifest_(manifest),
      as_(as),
      label_(label),
      watch_(watch),
      manifest_blocks_(whole_blocks(manifest, label)),
      manifest_order_(label.manifest_shape().rows_of(), 1),
      content_order_(medium::content_rows(manifest.info.shape, label.spare), label.slices()),
      layout_(manifest_order_.count(), content_order_.count()) {}

Result<std::unique_ptr<ContentRows>> ContentRows::open(const Manifest& manifest,
                                                       const content::ContentPlace& place,
                                                       const medium::Label& label,
                                                       const Watch& watch) {
  std::unique_ptr<ContentRows> rows(new ContentRows(manifest, place.as, label, watch));
  if (label.block_bytes != manifest.info.shape.block_bytes ||
      label.manifest_bytes != manifest.file_bytes.size() ||
      label.place_count != rows->layout_.count())
    return Error{ErrorCode::kBadInput, "write a medium", "the plan is for another content"};
  store::OpenOptions options;
  options.as = place.as;
  options.cancelled = watch.cancelled;
  auto store = store::ContentStore::open_complete(manifest, place.dir, options);
  if (!store.ok()) return store.error();
  rows->store_ = *std::move(store);
  auto files = store::open_posix_files(place.dir, false);
  if (!files.ok()) return files.error();
  rows->files_ = *std::move(files);
  if (const Status made = rows->make_coded_rows(); !made.ok()) return made.error();
  return rows;
}

Status ContentRows::read_all(
    const char* what,
    const std::function<void(std::uint32_t, std::span<const std::uint8_t>)>& take) const {
  const Shape& shape = manifest_.info.shape;
  std::vector<std::uint8_t> data(shape.generation_bytes());
  for (std::uint32_t g = 0; g < shape.generation_count(); ++g) {
    if (watch_.cancelled && watch_.cancelled())
      return Error{ErrorCode::kCancelled, "read the content", "stopped"};
    if (watch_.progress) watch_.progress(what, g, shape.generation_count());
    const std::span bytes = std::span(data).first(shape.padded_bytes(g));
    if (Status read = store_->read_generation(g, bytes); !read.ok()) return read;
    take(g, bytes);
  }
  return Done{};
}

Status ContentRows::make_coded_rows() {
  const Shape& shape = manifest_.info.shape;
  coded_.resize(shape.generation_count());
  const std::size_t k = shape.block_bytes;
  return read_all("coding", [&](std::uint32_t g, std::span<const std::uint8_t> data) {
    const std::uint32_t n = shape.blocks_in(g), count = label_.spare.of(n);
    coded_[g].resize(count * k);
    std::vector<std::uint8_t> vectors;
    std::vector<std::uint8_t*> out;
    std::vector<const std::uint8_t*> in;
    for (std::uint32_t r = 0; r < count; ++r) {
      const auto vector = medium::row_vector(manifest_.id, medium::Stream::kContent, g, n + r, n);
      vectors.insert(vectors.end(), vector.begin(), vector.end());
      out.push_back(coded_[g].data() + r * k);
    }
    for (std::uint32_t i = 0; i < n; ++i) in.push_back(data.data() + i * k);
    codec::multiply_rows(codec::kernels(), out.data(), count, in.data(), n, vectors.data(), n, k);
  });
}

Status ContentRows::verify() const {
  return read_all("verifying", [](std::uint32_t, std::span<const std::uint8_t>) {});
}

std::vector<std::uint8_t> ContentRows::manifest_row(const medium::RowSlice& at) const {
  const auto shape = label_.manifest_shape();
  const std::size_t k = shape.block_bytes, n = shape.blocks_in(at.generation);
  const auto vector =
      medium::row_vector(manifest_.id, medium::Stream::kManifest, at.generation, at.row, n);
  const std::uint8_t* first =
      manifest_blocks_.data() + std::size_t{at.generation} * medium::ManifestShape::kBlocksMax * k;
  std::vector<const std::uint8_t*> blocks;
  for (std::size_t i = 0; i < n; ++i) blocks.push_back(first + i * k);
  std::vector<std::uint8_t> payload(k);
  codec::kernels().combine(payload.data(), blocks.data(), vector.data(), n, k);
  return payload;
}

// Straight from the files: the rows of one generation stand far apart on a medium.
Result<std::vector<std::uint8_t>> ContentRows::source_slice(const medium::RowSlice& at,
                                                            std::uint64_t first,
                                                            std::size_t bytes) {
  const Info& info = manifest_.info;
  std::vector<std::uint8_t> payload(bytes);
  const std::uint64_t begin = at.generation * info.shape.generation_bytes();
  const std::uint64_t filled = info.shape.bytes_in_generation(at.generation);
  const std::uint64_t end = std::min(filled, first + bytes);  // within the generation
  if (end <= first) return payload;
  for (const auto& span : content::spans_of(info, begin + first, end - first)) {
    if (!file_ || open_file_ != span.file) {
      auto file =
          files_->open(content::final_path(info, as_, "", span.file), store::Files::Open::kRead);
      if (!file.ok()) return file.error();
      file_ = *std::move(file);
      open_file_ = span.file;
    }
    const auto into =
        std::span(payload).subspan(static_cast<std::size_t>(span.content_offset - begin - first),
                                   static_cast<std::size_t>(span.bytes));
    const auto got = file_->read_at(span.file_offset, into);
    if (!got.ok()) return got.error();
  }
  return payload;
}

Result<std::vector<std::uint8_t>> ContentRows::payload(std::uint64_t place) {
  const medium::Layout::Place at = layout_.at(place);
  if (at.stream == medium::Stream::kManifest) return manifest_row(manifest_order_.at(at.index));
  const medium::RowSlice row = content_order_.at(at.index);
  const Shape& shape = manifest_.info.shape;
  const std::uint32_t n = shape.blocks_in(row.generation);
  const std::size_t from = std::size_t{row.slice} * label_.payload_bytes();
  const std::size_t bytes = std::min<std::size_t>(label_.payload_bytes(), shape.block_bytes - from);
  if (row.row < n)
    return source_slice(row, std::uint64_t{row.row} * shape.block_bytes + from, bytes);
  const std::uint8_t* coded =
      coded_[row.generation].data() + std::size_t{row.row - n} * shape.block_bytes + from;
  return std::vector<std::uint8_t>(coded, coded + bytes);
}

}  // namespace firn::app
