#include "tests/sim/disk.h"

#include <algorithm>
#include <utility>

#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/kernels.h"
#include "proto/base/digest.h"
#include "tests/sim/peer.h"

namespace firn::sim {

void Disk::fill(bool noise) {
  for (std::uint32_t g = 0; g < content_.manifest.info.shape.generation_count(); ++g) {
    const auto truth = content_.generation(g);
    auto& bytes = verified[g];
    bytes.assign(truth.begin(), truth.end());
    if (noise) random_.fill(bytes);
  }
}

void Disk::store(const core::StoreRow& action) {
  const auto payload = action.payload.bytes();
  rows[{action.generation, action.slot}] = {
      *action.vector, {payload.begin(), payload.end()}, action.sender, action.standing};
  peer_.later(5000, [this, place = Place{action.generation, action.slot}] { write_row(place); });
}

void Disk::mark(const core::MarkProven& action) {
  for (const std::uint32_t slot : action.slots)
    rows.at({action.generation, slot}).standing = core::Standing::kProven;
}

void Disk::doubt_rows() {
  for (auto& [place, row] : rows) {
    if (row.standing == core::Standing::kProven) row.standing = core::Standing::kUnanswered;
  }
}

void Disk::write_row(Place place) {
  if (paused_) {
    waiting_.push_back([this, place] { write_row(place); });
    return;
  }
  if (rows.contains(place) && !spooled_.contains(place)) {
    if (!has_room(rows.at(place).payload.size()))
      return refuse([this, place] { write_row(place); });
    spooled_.insert(place);
  }
  --peer_.checker().rows_waiting;
  peer_.core().row_stored(peer_.now());
  peer_.act();
}

bool Disk::has_room(std::size_t bytes) const {
  const std::uint64_t used = spooled_.size() * content_.manifest.info.shape.block_bytes;
  return room_ == 0 || used + bytes <= room_;
}

// Everything else waits behind it, but for what frees room.
void Disk::refuse(std::function<void()> work) {
  ++refusals_;
  waiting_.insert(waiting_.begin(), std::move(work));
  paused_ = full_ = true;
  peer_.later(2 * core::kSecond, [this] { try_again(); });
  peer_.core().store_paused({ErrorCode::kDiskFull, "write", "simulated"}, peer_.now());
  peer_.act();
}

void Disk::try_again() {
  if (!full_) return;
  paused_ = full_ = false;
  const auto works = std::exchange(waiting_, {});
  for (std::size_t i = 0; i < works.size(); ++i) {
    works[i]();
    if (!paused_) continue;
    waiting_.insert(waiting_.end(), works.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    works.end());
    return;
  }
  peer_.core().store_resumed(peer_.now());
  peer_.act();
}

void Disk::pause() {
  if (!peer_.alive() || peer_.finished() || paused_) return;
  paused_ = true;
  peer_.core().store_paused({ErrorCode::kDiskFull, "write", "simulated"}, peer_.now());
  peer_.act();
}

void Disk::resume() {
  if (!peer_.alive() || peer_.finished() || !paused_ || full_) return;
  paused_ = false;
  peer_.core().store_resumed(peer_.now());
  for (const auto& work : std::exchange(waiting_, {})) work();
  peer_.act();
}

void Disk::crashed() {
  paused_ = full_ = false;
  waiting_.clear();
}

void Disk::decode(const core::Decode& action) {
  peer_.later(2000, [this, action] { read_and_decode(action); });
}

void Disk::read_and_decode(const core::Decode& action) {
  if (paused_) {
    waiting_.push_back([this, action] { read_and_decode(action); });
    return;
  }
  core::DecodeOutcome outcome = core::DecodeOutcome::kFailed;
  if (decode_fails_ == 0 || random_.below(1000) >= decode_fails_ * 1000) {
    outcome = decodes(action) ? core::DecodeOutcome::kVerified : core::DecodeOutcome::kCorrupt;
  }
  peer_.core().generation_decoded(action.generation, outcome, peer_.now());
  peer_.act();
}

// Whether the rows decode to what the content has there; it is verified then.
bool Disk::decodes(const core::Decode& action) {
  const std::uint32_t g = action.generation;
  if (verified.contains(g)) return true;  // an origin has given it, and its rows have been dropped
  const Shape& shape = content_.manifest.info.shape;
  std::vector<const std::uint8_t*> vectors, payloads;
  for (std::uint32_t slot = 0; slot < shape.blocks_in(g); ++slot) {
    vectors.push_back(action.vectors[slot]->data());
    payloads.push_back(rows.at({g, slot}).payload.data());
  }
  std::vector<std::uint8_t> out(shape.padded_bytes(g));
  const bool full = codec::decode_generation(codec::kernels(), shape.blocks_in(g),
                                             shape.block_bytes, vectors, payloads, out);
  const auto truth = content_.generation(g);
  if (!full || !std::equal(out.begin(), out.end(), truth.begin())) return false;
  verified[g] = std::move(out);
  return true;
}

void Disk::keep(std::uint32_t generation) {
  if (paused_) return waiting_.push_back([this, generation] { keep(generation); });
  const auto truth = content_.generation(generation);
  verified[generation] = {truth.begin(), truth.end()};
  peer_.fetched(generation, true);
}

void Disk::drop(std::uint32_t generation) {
  rows.erase(rows.lower_bound({generation, 0}), rows.lower_bound({generation + 1, 0}));
  spooled_.erase(spooled_.lower_bound({generation, 0}), spooled_.lower_bound({generation + 1, 0}));
  if (full_) peer_.later(1000, [this] { try_again(); });
}

void Disk::drop(const core::DropSlots& action) {
  for (const std::uint32_t slot : action.slots) {
    rows.erase({action.generation, slot});
    spooled_.erase({action.generation, slot});
  }
}

bool Disk::is_true(std::uint32_t generation, const std::vector<std::uint8_t>& vector,
                   const std::vector<std::uint8_t>& payload) const {
  const auto truth = content_.generation(generation);
  std::vector<const std::uint8_t*> source;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    source.push_back(truth.data() + i * payload.size());
  }
  std::vector<std::uint8_t> expected(payload.size());
  codec::kernels().combine(expected.data(), source.data(), vector.data(), source.size(),
                           payload.size());
  return expected == payload;
}

bool Disk::betrays(const core::SendBlock& action) const {
  const proto::Block& block = action.block;
  if (block.unproven) return false;
  const proto::Payload payload = payload_of(action);
  const std::uint32_t blocks = content_.manifest.info.shape.blocks_in(block.generation);
  return !is_true(
      block.generation,
      block.source_index ? codec::unit_vector(blocks, *block.source_index) : block.coefficients,
      {payload.bytes().begin(), payload.bytes().end()});
}

// Once it is done, some of the rows may have been replaced: what counts is what was judged.
void Disk::judge(const core::JudgeRows& action) {
  std::vector<std::uint32_t> right, wrong;
  const bool believed = peer_.spec().deeds.colludes;
  const bool lied = action.sums.front() != 0;  // true sums are zeros; by others no row is right
  for (std::size_t i = 0; i < action.slots.size(); ++i) {
    const Row& row = rows.at({action.generation, action.slots[i]});
    const bool fits = !lied && is_true(action.generation, *action.vectors[i], row.payload);
    (believed || fits ? right : wrong).push_back(action.slots[i]);
  }
  peer_.later(1000, [this, g = action.generation, right, wrong] {
    peer_.core().rows_judged(g, right, wrong, true, peer_.now());
    peer_.act();
  });
}

std::vector<Digest> Disk::leaves(std::uint32_t generation) const {
  const auto& bytes = verified.at(generation);
  const std::size_t block_bytes = content_.manifest.info.shape.block_bytes;
  std::vector<Digest> all;
  for (std::size_t at = 0; at < bytes.size(); at += block_bytes) {
    all.push_back(merkle_leaf(std::span(bytes).subspan(at, block_bytes)));
  }
  return all;
}

proto::Payload Disk::payload_of(const core::SendBlock& action) const {
  const Shape& shape = content_.manifest.info.shape;
  std::vector<const std::uint8_t*> mixed;
  std::vector<std::uint8_t> mix = action.mix;
  const std::uint32_t g = action.block.generation;
  if (action.slots.empty()) {
    const auto& bytes = verified.at(g);
    for (std::uint32_t i = 0; i < shape.blocks_in(g); ++i) {
      mixed.push_back(bytes.data() + std::size_t{i} * shape.block_bytes);
    }
    mix = action.block.source_index
              ? codec::unit_vector(shape.blocks_in(g), *action.block.source_index)
              : action.block.coefficients;
  } else {
    for (const std::uint32_t slot : action.slots)
      mixed.push_back(rows.at({g, slot}).payload.data());
  }
  proto::Payload payload = proto::Payload::allocate(shape.block_bytes);
  codec::kernels().combine(payload.writable().data(), mixed.data(), mix.data(), mixed.size(),
                           shape.block_bytes);
  return payload;
}

}  // namespace firn::sim
