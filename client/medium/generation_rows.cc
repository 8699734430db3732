#include "client/medium/generation_rows.h"

#include <algorithm>

#include "client/medium/slice_decoder.h"
#include "codec/kernels.h"
#include "proto/base/result.h"

namespace firn::medium {
namespace {

constexpr std::uint64_t kUnnumbered = std::uint64_t{1} << 32;

}  // namespace

GenerationRows::GenerationRows(std::size_t n, std::vector<std::size_t> cuts)
    : n_(n), cuts_(std::move(cuts)), decoded_(cuts_.size() - 1) {
  FIRN_CHECK(cuts_.size() >= 2 && cuts_.front() == 0 && std::is_sorted(cuts_.begin(), cuts_.end()));
}

std::size_t GenerationRows::piece_at(std::size_t offset) const {
  const auto at = std::lower_bound(cuts_.begin(), cuts_.end(), offset);
  FIRN_CHECK(at != cuts_.end() && *at == offset);
  return static_cast<std::size_t>(at - cuts_.begin());
}

GenerationRows::Known& GenerationRows::known(std::uint64_t key,
                                             const std::vector<std::uint8_t>& vector) {
  FIRN_CHECK(vector.size() == n_);
  Known& row = rows_[key];
  if (row.has.empty())
    row = {vector, std::vector<std::uint8_t>(cuts_.back()), std::vector<bool>(pieces())};
  return row;
}

void GenerationRows::add(std::uint32_t row, const std::vector<std::uint8_t>& vector,
                         std::size_t first, std::span<const std::uint8_t> bytes) {
  Known& into = known(row, vector);
  const std::size_t end = piece_at(first + bytes.size());
  for (std::size_t piece = piece_at(first); piece < end; ++piece) {
    if (into.has[piece]) continue;
    into.has[piece] = true;
    const auto told = bytes.subspan(cuts_[piece] - first, cuts_[piece + 1] - cuts_[piece]);
    std::copy(told.begin(), told.end(),
              into.payload.begin() + static_cast<std::ptrdiff_t>(cuts_[piece]));
  }
}

void GenerationRows::add_whole(const std::vector<std::uint8_t>& vector,
                               std::span<const std::uint8_t> payload) {
  FIRN_CHECK(payload.size() == cuts_.back());
  const std::uint64_t last = rows_.empty() ? 0 : rows_.rbegin()->first;
  Known& into = known(std::max(last + 1, kUnnumbered), vector);
  into.payload.assign(payload.begin(), payload.end());
  into.has.assign(pieces(), true);
}

bool GenerationRows::decode_piece(std::size_t piece, std::span<std::uint8_t> data) {
  const std::size_t first = cuts_[piece], bytes = cuts_[piece + 1] - first;
  SliceDecoder decoder(n_, bytes);
  for (const auto& [key, row] : rows_) {
    if (!row.has[piece]) continue;
    const auto from = row.payload.begin() + static_cast<std::ptrdiff_t>(first);
    decoder.add(row.vector, {from, from + static_cast<std::ptrdiff_t>(bytes)});
  }
  std::size_t missing = 0;
  const bool whole = decoder.decode(data.data() + first, cuts_.back(), missing);
  missing_ += missing;
  return whole;
}

bool GenerationRows::decode(std::span<std::uint8_t> data) {
  FIRN_CHECK(data.size() == n_ * cuts_.back());
  missing_ = 0;
  for (std::size_t piece = 0; piece < pieces(); ++piece)
    decoded_[piece] = decode_piece(piece, data);
  return missing_ == 0;
}

std::vector<GenerationRows::Row> GenerationRows::whole_rows(
    std::span<const std::uint8_t> data) const {
  const codec::Kernels& kernels = codec::kernels();
  std::vector<Row> found;
  std::vector<const std::uint8_t*> blocks(n_);
  for (const auto& [key, row] : rows_) {
    if (key >= kUnnumbered) break;
    bool whole = true;
    for (std::size_t piece = 0; piece < pieces(); ++piece)
      whole &= row.has[piece] || decoded_[piece];
    if (!whole) continue;
    Row made{row.vector, row.payload};
    for (std::size_t piece = 0; piece < pieces(); ++piece) {
      if (row.has[piece]) continue;
      const std::size_t first = cuts_[piece];
      for (std::size_t i = 0; i < n_; ++i) blocks[i] = data.data() + i * cuts_.back() + first;
      kernels.combine(made.payload.data() + first, blocks.data(), row.vector.data(), n_,
                      cuts_[piece + 1] - first);
    }
    found.push_back(std::move(made));
  }
  return found;
}

}  // namespace firn::medium
