#include "client/app/medium/restoring.h"

#include <map>
#include <memory>
#include <vector>

#include "client/app/medium/read_slices.h"
#include "client/medium/rows.h"
#include "client/medium/slice_decoder.h"
#include "client/store/content_store.h"
#include "codec/span_basis.h"

namespace firn::app {
namespace {

using medium::GenerationRows;
using medium::Layout;
using medium::RowOrder;
using medium::RowSlice;
using medium::SliceDecoder;
using medium::Stream;

// One content's way from rows to files.
class Restoring {
 public:
  Restoring(const Manifest& manifest, const ReadSlices& slices, const RestoringOptions& options)
      : manifest_(manifest), shape_(manifest.info.shape), slices_(slices), options_(options) {}

  Result<Restored> run(const std::string& dir) {
    store::OpenOptions opening;
    opening.as = options_.as;
    opening.overwrite = options_.overwrite;
    opening.cancelled = options_.cancelled;
    store::Resumed resumed;
    auto store = store::ContentStore::open_download(manifest_, dir, opening, resumed);
    if (!store.ok()) return store.error();
    store_ = *std::move(store);
    restored_.generations = shape_.generation_count();
    for (store::SpooledRow& row : resumed.rows) kept_[row.generation].push_back(std::move(row));
    for (std::uint32_t g = 0; g < shape_.generation_count(); ++g) {
      if (const Status go = step(g); !go.ok()) return go.error();
      if (resumed.verified[g]) {
        ++restored_.had;
      } else if (const Status done = restore(g); !done.ok()) {
        return done.error();
      }
    }
    if (const Status kept = keep_others(); !kept.ok()) return kept.error();
    if (const Status synced = store_->sync(); !synced.ok()) return synced.error();
    if (restored_.whole() < restored_.generations) return restored_;
    const auto finished = store_->finish();
    if (!finished.ok()) return finished.error();
    restored_.complete = *finished;
    return restored_;
  }

 private:
  using Chosen = ReadSlices::Chosen;

  Status step(std::uint32_t g) const {
    if (options_.cancelled && options_.cancelled())
      return Error{ErrorCode::kCancelled, "restore the content", "stopped"};
    if (options_.progress) options_.progress(g, shape_.generation_count());
    return Done{};
  }

  // The rows that an earlier run left; of peers only if asked for.
  Status add_kept(std::uint32_t g, GenerationRows& rows, bool of_peers) const {
    const auto kept = kept_.find(g);
    if (kept == kept_.end()) return Done{};
    std::vector<std::uint8_t> payload(shape_.block_bytes);
    for (const store::SpooledRow& row : kept->second) {
      if (!of_peers && row.sender != PeerId{}) continue;
      if (const Status read = store_->read_row(g, row.slot, payload); !read.ok()) return read;
      rows.add_whole(row.vector, payload);
    }
    return Done{};
  }

  enum class Outcome { kRight, kFalse, kLacking /* rows */ };

  // What is right goes into the files.
  Result<Outcome> take(std::uint32_t g, GenerationRows& rows) {
    std::vector<std::uint8_t> data(shape_.padded_bytes(g));
    if (!rows.decode(data)) return Outcome::kLacking;
    if (!store_->verify_generation(g, data)) return Outcome::kFalse;
    if (const Status written = store_->write_generation(g, data); !written.ok())
      return written.error();
    ++restored_.decoded;
    return Outcome::kRight;
  }

  Result<Outcome> take(std::uint32_t g, const Chosen& media) {
    auto rows = slices_.rows_of(g, media);
    if (!rows.ok()) return rows.error();
    return take(g, *rows);
  }

  // All these media together are false, so one of them at least. Where rows are missing then,
  // `media` are those that are not false alone.
  Result<Outcome> sift(std::uint32_t g, Chosen& media) {
    restored_.false_media = true;
    if (media.size() < 2) return Outcome::kFalse;
    Chosen others;  // that are not false alone
    for (const std::uint32_t medium : media) {
      const auto alone = take(g, Chosen{medium});
      if (!alone.ok() || *alone == Outcome::kRight) return alone;
      if (*alone == Outcome::kLacking) others.push_back(medium);
    }
    if (others.empty()) return Outcome::kFalse;
    if (others.size() < media.size()) {
      const auto rest = take(g, others);
      if (!rest.ok() || *rest != Outcome::kFalse) {
        media = others;
        return rest;
      }
    }
    for (std::size_t out = others.size(); out-- > 0 && others.size() > 2;) {
      Chosen rest = others;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(out));
      const auto without = take(g, rest);
      if (!without.ok() || *without == Outcome::kRight) return without;
    }
    return Outcome::kFalse;
  }

  // The media's rows alone first: what an earlier download left may be false.
  Status restore(std::uint32_t g) {
    Chosen media = slices_.media_of(g);
    auto outcome = take(g, media);
    if (outcome.ok() && *outcome == Outcome::kFalse) outcome = sift(g, media);
    if (outcome.ok() && *outcome == Outcome::kLacking) outcome = complete(g, media);
    if (!outcome.ok()) return outcome.error();
    if (*outcome == Outcome::kRight) return Done{};
    if (*outcome == Outcome::kFalse) ++restored_.false_ones;
    lacking_.push_back(g);
    return Done{};
  }

  // With what an earlier run left, as these media lack rows. If that is false it goes.
  Result<Outcome> complete(std::uint32_t g, const Chosen& media) {
    auto rows = slices_.rows_of(g, media);
    if (!rows.ok()) return rows.error();
    if (const Status added = add_kept(g, *rows, true); !added.ok()) return added.error();
    auto outcome = take(g, *rows);
    if (!outcome.ok() || *outcome == Outcome::kRight) return outcome;
    if (*outcome == Outcome::kFalse) {
      if (const Status dropped = store_->drop_rows(g); !dropped.ok()) return dropped.error();
      kept_.erase(g);
      rows = slices_.rows_of(g, media);
      if (!rows.ok()) return rows.error();
      outcome = take(g, *rows);  // they lack as many as before
    }
    restored_.rows_missing += rows->missing();
    return outcome;
  }

  // What later comes from a swarm completes these rows.
  Status keep_others() {
    for (const std::uint32_t g : lacking_) {
      if (const Status go = step(g); !go.ok()) return go;
      if (restored_.false_media)
        if (const Status dropped = drop_of_media(g); !dropped.ok()) return dropped;
      if (const Status kept = keep_rows(g); !kept.ok()) return kept;
    }
    return Done{};
  }

  // Rows without a sender are of media, maybe of those that are false. The others stay.
  Status drop_of_media(std::uint32_t g) {
    const auto kept = kept_.find(g);
    if (kept == kept_.end()) return Done{};
    std::vector<store::SpooledRow> of_peers;
    std::vector<std::vector<std::uint8_t>> payloads;
    for (const store::SpooledRow& row : kept->second) {
      if (row.sender == PeerId{}) continue;
      of_peers.push_back(row);
      payloads.emplace_back(shape_.block_bytes);
      const Status read = store_->read_row(g, row.slot, payloads.back());
      if (!read.ok()) return read;
    }
    if (of_peers.size() == kept->second.size()) return Done{};
    if (const Status dropped = store_->drop_rows(g); !dropped.ok()) return dropped;
    for (std::size_t i = 0; i < of_peers.size(); ++i)
      if (const Status back = store_->write_row(of_peers[i], payloads[i]); !back.ok()) return back;
    kept->second = std::move(of_peers);
    return Done{};
  }

  // Rows that are known in whole, as far as they are innovative, go to the download's spool.
  // Nothing that a peer sent goes into them.
  Status keep_rows(std::uint32_t g) {
    const std::uint32_t n = shape_.blocks_in(g);
    codec::SpanBasis basis(n);
    std::vector<bool> used(n);
    if (const auto kept = kept_.find(g); kept != kept_.end())
      for (const store::SpooledRow& row : kept->second) {
        restored_.rows_kept += basis.insert(row.vector);
        used[row.slot] = true;
      }
    if (restored_.false_media || !slices_.any(g)) return Done{};
    auto rows = slices_.rows_of(g, slices_.media_of(g));
    if (!rows.ok()) return rows.error();
    if (const Status added = add_kept(g, *rows, false); !added.ok()) return added;
    std::vector<std::uint8_t> data(shape_.padded_bytes(g));
    (void)rows->decode(data);
    std::uint32_t slot = 0;
    for (GenerationRows::Row& row : rows->whole_rows(data)) {
      if (!basis.insert(row.vector)) continue;
      while (slot < n && used[slot]) ++slot;
      if (slot == n) break;  // the others are not independent
      used[slot] = true;
      const Status written =
          store_->write_row({g, slot, std::move(row.vector), PeerId{}}, row.payload);
      if (!written.ok()) return written;
      ++restored_.rows_kept;
    }
    return Done{};
  }

  const Manifest& manifest_;
  const Shape& shape_;
  const ReadSlices& slices_;
  const RestoringOptions& options_;
  std::unique_ptr<store::ContentStore> store_;
  std::map<std::uint32_t, std::vector<store::SpooledRow>> kept_;
  std::vector<std::uint32_t> lacking_;  // generations that are not whole
  Restored restored_;
};

Result<Manifest> manifest_of(const MediumJournal& from) {
  const medium::Label& label = from.label();
  const medium::ManifestShape shape = label.manifest_shape();
  const RowOrder order(shape.rows_of(), 1);
  const Error lacking{ErrorCode::kCorrupt, "read the medium's manifest",
                      "too few of its rows could be read"};
  if (label.place_count < order.count()) return lacking;
  const Layout layout(order.count(), label.place_count - order.count());
  std::vector<SliceDecoder> decoders;
  for (std::uint32_t g = 0; g < shape.generations(); ++g)
    decoders.emplace_back(shape.blocks_in(g), shape.block_bytes);
  for (const std::uint64_t place : from.rows->places()) {
    const Layout::Place at = layout.at(place);
    if (at.stream != Stream::kManifest) continue;
    const RowSlice row = order.at(at.index);
    auto payload = from.rows->payload(place);
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

}  // namespace

Result<Manifest> restore_manifest(std::span<const MediumJournal> media) {
  FIRN_CHECK(!media.empty());
  std::optional<Error> first;
  for (const MediumJournal& medium : media) {
    auto manifest = manifest_of(medium);
    if (manifest.ok()) return manifest;
    if (!first) first = manifest.error();
  }
  return *first;
}

Result<Restored> restore_content(const Manifest& manifest, std::span<const MediumJournal> media,
                                 const std::string& dir, const RestoringOptions& options) {
  const auto slices = ReadSlices::of(manifest, media);
  if (!slices.ok()) return slices.error();
  return Restoring(manifest, *slices, options).run(dir);
}

}  // namespace firn::app
