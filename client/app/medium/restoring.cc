#include "client/app/medium/restoring.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "client/medium/rows.h"
#include "client/medium/slice_decoder.h"
#include "client/store/content_store.h"
#include "codec/span_basis.h"
#include "proto/base/digest.h"

namespace firn::app {
namespace {

using medium::Layout;
using medium::RowOrder;
using medium::RowSlice;
using medium::SliceDecoder;
using medium::Stream;

// A row slice that was read, and its place.
struct ReadSlice {
  RowSlice at;
  std::uint64_t place = 0;
};

// One content's way from rows to files.
class Restoring {
 public:
  Restoring(const Manifest& manifest, const medium::Label& label, const RowJournal& journal,
            const RestoringOptions& options)
      : manifest_(manifest),
        shape_(manifest.info.shape),
        label_(label),
        journal_(journal),
        options_(options),
        order_(medium::content_rows(shape_, label.spare), label.slices()),
        layout_(RowOrder(label.manifest_shape().rows_of(), 1).count(), order_.count()) {}

  Result<Restored> run(const std::string& dir) {
    if (label_.block_bytes != shape_.block_bytes || label_.place_count != layout_.count())
      return Error{ErrorCode::kBadInput, "read a medium", "its label does not fit its manifest"};
    store::OpenOptions opening;
    opening.overwrite = options_.overwrite;
    opening.cancelled = options_.cancelled;
    store::Resumed resumed;
    auto store = store::ContentStore::open_download(manifest_, dir, opening, resumed);
    if (!store.ok()) return store.error();
    store_ = *std::move(store);
    restored_.generations = shape_.generation_count();
    for (store::SpooledRow& row : resumed.rows) kept_[row.generation].push_back(std::move(row));
    sort_places();
    for (std::uint32_t g = 0; g < shape_.generation_count(); ++g) {
      if (options_.cancelled && options_.cancelled())
        return Error{ErrorCode::kCancelled, "restore the content", "stopped"};
      if (options_.progress) options_.progress(g, shape_.generation_count());
      if (resumed.verified[g]) {
        ++restored_.had;
        continue;
      }
      if (const Status done = restore(g); !done.ok()) return done.error();
    }
    if (const Status synced = store_->sync(); !synced.ok()) return synced.error();
    if (restored_.had + restored_.decoded < restored_.generations) return restored_;
    const auto finished = store_->finish();
    if (!finished.ok()) return finished.error();
    restored_.complete = *finished;
    return restored_;
  }

 private:
  void sort_places() {
    places_.resize(shape_.generation_count());
    for (const std::uint64_t place : journal_.places()) {
      const Layout::Place at = layout_.at(place);
      if (at.stream != Stream::kContent) continue;
      const RowSlice row = order_.at(at.index);
      places_[row.generation].push_back({row, place});
    }
  }

  std::size_t slice_bytes(std::uint32_t slice) const {
    const std::size_t from = std::size_t{slice} * label_.payload_bytes();
    return std::min<std::size_t>(label_.payload_bytes(), shape_.block_bytes - from);
  }

  // The slices of rows that an earlier run left.
  Status add_kept(std::uint32_t g, std::vector<SliceDecoder>& decoders) {
    std::vector<std::uint8_t> payload(shape_.block_bytes);
    for (const store::SpooledRow& row : kept_[g]) {
      if (const Status read = store_->read_row(g, row.slot, payload); !read.ok()) return read;
      for (std::uint32_t s = 0; s < decoders.size(); ++s) {
        const auto from = payload.begin() + static_cast<std::ptrdiff_t>(s) * label_.payload_bytes();
        decoders[s].add(row.vector, {from, from + static_cast<std::ptrdiff_t>(slice_bytes(s))});
      }
    }
    return Done{};
  }

  Status restore(std::uint32_t g) {
    const std::uint32_t n = shape_.blocks_in(g);
    std::vector<SliceDecoder> decoders;
    for (std::uint32_t s = 0; s < label_.slices(); ++s) decoders.emplace_back(n, slice_bytes(s));
    if (const Status added = add_kept(g, decoders); !added.ok()) return added;
    for (const ReadSlice& read : places_[g]) {
      auto payload = journal_.payload(read.place);
      if (!payload.ok()) return payload.error();
      (*payload)->resize(slice_bytes(read.at.slice));
      decoders[read.at.slice].add(
          medium::row_vector(manifest_.id, Stream::kContent, g, read.at.row, n),
          **std::move(payload));
    }
    std::vector<std::uint8_t> data(shape_.padded_bytes(g));
    std::size_t lacking = 0;
    for (std::uint32_t s = 0; s < decoders.size(); ++s) {
      std::size_t missing = 0;
      if (!decoders[s].decode(data.data() + std::size_t{s} * label_.payload_bytes(),
                              shape_.block_bytes, missing))
        lacking += missing;
    }
    if (lacking == 0 &&
        generation_digest(data, shape_.block_bytes) == manifest_.info.generation_digests[g]) {
      ++restored_.decoded;
      return store_->write_generation(g, data);
    }
    // A row that passed its check and is false all the same: none of them can be trusted.
    if (lacking == 0) return Done{};
    restored_.rows_missing += lacking;
    return keep_rows(g);
  }

  // Rows whose slices were all read, as far as they are innovative, go to the download's spool.
  Status keep_rows(std::uint32_t g) {
    const std::uint32_t n = shape_.blocks_in(g);
    codec::SpanBasis basis(n);
    std::vector<bool> used(n);
    for (const store::SpooledRow& row : kept_[g]) {
      basis.insert(row.vector);
      used[row.slot] = true;
    }
    std::map<std::uint32_t, std::vector<const ReadSlice*>> rows;
    for (const ReadSlice& read : places_[g]) rows[read.at.row].push_back(&read);
    std::uint32_t slot = 0;
    for (const auto& [row, slices] : rows) {
      if (slices.size() != label_.slices()) continue;
      auto vector = medium::row_vector(manifest_.id, Stream::kContent, g, row, n);
      if (!basis.insert(vector)) continue;
      std::vector<std::uint8_t> payload(shape_.block_bytes);
      for (const ReadSlice* read : slices) {
        const auto part = journal_.payload(read->place);
        if (!part.ok()) return part.error();
        std::copy_n((*part)->begin(), slice_bytes(read->at.slice),
                    payload.begin() + std::ptrdiff_t{read->at.slice} * label_.payload_bytes());
      }
      while (used[slot]) ++slot;
      used[slot] = true;
      const Status written = store_->write_row({g, slot, std::move(vector), PeerId{}}, payload);
      if (!written.ok()) return written;
      ++restored_.rows_kept;
    }
    return Done{};
  }

  const Manifest& manifest_;
  const Shape& shape_;
  const medium::Label& label_;
  const RowJournal& journal_;
  const RestoringOptions& options_;
  const RowOrder order_;
  const Layout layout_;
  std::unique_ptr<store::ContentStore> store_;
  std::map<std::uint32_t, std::vector<store::SpooledRow>> kept_;
  std::vector<std::vector<ReadSlice>> places_;  // of each generation
  Restored restored_;
};

}  // namespace

Result<Manifest> restore_manifest(const medium::Label& label, const RowJournal& journal) {
  const medium::ManifestShape shape = label.manifest_shape();
  const RowOrder order(shape.rows_of(), 1);
  const Error lacking{ErrorCode::kCorrupt, "read the medium's manifest",
                      "too few of its rows could be read"};
  if (label.place_count < order.count()) return lacking;
  const Layout layout(order.count(), label.place_count - order.count());
  std::vector<SliceDecoder> decoders;
  for (std::uint32_t g = 0; g < shape.generations(); ++g)
    decoders.emplace_back(shape.blocks_in(g), shape.block_bytes);
  for (const std::uint64_t place : journal.places()) {
    const Layout::Place at = layout.at(place);
    if (at.stream != Stream::kManifest) continue;
    const RowSlice row = order.at(at.index);
    auto payload = journal.payload(place);
    if (!payload.ok()) return payload.error();
    decoders[row.generation].add(
        medium::row_vector(label.content, Stream::kManifest, row.generation, row.row,
                           shape.blocks_in(row.generation)),
        **std::move(payload));
  }
  std::string bytes(std::size_t{shape.blocks()} * shape.block_bytes, '\0');
  for (std::uint32_t g = 0; g < shape.generations(); ++g) {
    std::size_t missing = 0;
    auto* out = reinterpret_cast<std::uint8_t*>(bytes.data()) +
                std::size_t{g} * medium::ManifestShape::kBlocksMax * shape.block_bytes;
    if (!decoders[g].decode(out, shape.block_bytes, missing)) return lacking;
  }
  bytes.resize(label.manifest_bytes);
  return parse_manifest(bytes, label.content);
}

Result<Restored> restore_content(const Manifest& manifest, const medium::Label& label,
                                 const RowJournal& journal, const std::string& dir,
                                 const RestoringOptions& options) {
  return Restoring(manifest, label, journal, options).run(dir);
}

}  // namespace firn::app
