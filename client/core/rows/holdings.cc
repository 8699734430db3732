#include "client/core/rows/holdings.h"

#include <algorithm>

#include "codec/encode.h"
#include "codec/kernels.h"
#include "proto/base/result.h"

namespace firn::core {

bool OpenGeneration::reaches(const std::vector<std::uint8_t>& z, Rows which) const {
  if (which == Rows::kAll) return basis.reaches(z);
  for (std::uint32_t slot = 0; slot < vectors.size(); ++slot) {
    if (has(slot, which) && codec::dot(*vectors[slot], z) != 0) return true;
  }
  return false;
}

std::vector<std::uint32_t> OpenGeneration::unproven() const {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < vectors.size(); ++slot)
    if (has(slot, Rows::kAll) && !has(slot, Rows::kProven)) slots.push_back(slot);
  return slots;
}

std::optional<PeerId> OpenGeneration::guilty() const {
  const std::vector<std::uint32_t> slots = unproven();
  const auto of_the_same = [&](std::uint32_t slot) {
    return standing[slot] == Standing::kAnswered && senders[slot] == senders[slots.front()];
  };
  if (slots.empty() || !std::ranges::all_of(slots, of_the_same)) return std::nullopt;
  return senders[slots.front()];
}

std::optional<std::uint32_t> OpenGeneration::slot_of(std::uint32_t i) const {
  for (std::uint32_t slot = 0; slot < vectors.size(); ++slot) {
    if (vectors[slot] && source_block[slot] == i) return slot;
  }
  return std::nullopt;
}

void OpenGeneration::count_slot(std::uint32_t slot) {
  const PeerId& sender = senders[slot];
  auto share = std::find_if(by_sender.begin(), by_sender.end(),
                            [&](const auto& entry) { return entry.sender == sender; });
  if (share == by_sender.end()) {
    by_sender.push_back({{}, sender});
    share = by_sender.end() - 1;
  }
  const auto add_to = [&](RowCounts& counts) {
    ++counts.rows;
    counts.trusted += has(slot, Rows::kTrusted);
    counts.proven += has(slot, Rows::kProven);
  };
  add_to(*this);
  add_to(*share);
  if (from_whole[slot]) add_to(first_hand);
}

void OpenGeneration::count_anew() {
  by_sender.clear();
  static_cast<RowCounts&>(*this) = first_hand = {};
  for (std::uint32_t slot = 0; slot < vectors.size(); ++slot) {
    if (vectors[slot]) count_slot(slot);
  }
}

Holdings::Holdings(const Shape& shape)
    : shape_(shape),
      wanted_(GenerationSet::of_all(shape.generation_count())),
      verified_(shape.generation_count()),
      given_up_(shape.generation_count()),
      settled_(shape.generation_count()),
      held_(shape.generation_count()),
      sums_{shape.block_count(), 0, shape.block_count(), shape.content_bytes, 0} {}

std::uint32_t Holdings::rank(std::uint32_t g, Rows which) const {
  if (verified_.contains(g)) return blocks_in(g);
  const OpenGeneration* open = find_open(g);
  return open ? open->count(which) : 0;
}

const OpenGeneration* Holdings::find_open(std::uint32_t g) const {
  const auto it = open_.find(g);
  return it == open_.end() ? nullptr : &it->second;
}

OpenGeneration* Holdings::extend_span(std::uint32_t g, const Vector& vector) {
  const auto [it, fresh] = open_.try_emplace(g, blocks_in(g));
  if (it->second.basis.insert(*vector)) return &it->second;
  if (fresh) open_.erase(it);  // a vector of zeros
  return nullptr;
}

void Holdings::place(OpenGeneration& open, std::uint32_t g, std::uint32_t slot,
                     const Vector& vector, const Origin& origin, TimeUs now) {
  if (slot >= open.vectors.size()) {
    open.vectors.resize(slot + 1);
    open.senders.resize(slot + 1);
    open.standing.resize(slot + 1);
    open.source_block.resize(slot + 1);
    open.arrived.resize(slot + 1);
    open.from_whole.resize(slot + 1);
    open.believed.resize(slot + 1);
    const std::size_t n = blocks_in(g), bytes = (slot + 1) * n;
    if (bytes > open.rows_by_slot.capacity())
      open.rows_by_slot.reserve(std::min(std::max(2 * open.rows_by_slot.size(), bytes), n * n));
    open.rows_by_slot.resize(bytes);
  }
  std::copy(vector->begin(), vector->end(),
            open.rows_by_slot.begin() + std::ptrdiff_t{slot} * blocks_in(g));
  open.vectors[slot] = vector;
  open.senders[slot] = origin.sender;
  open.standing[slot] = origin.standing;
  open.source_block[slot] = origin.source_block;
  open.arrived[slot] = now;
  open.from_whole[slot] = origin.first_hand;
  open.believed[slot] = origin.believed;
  open.count_slot(slot);
  ++total_rank_;
  if (wanted_.contains(g)) ++sums_.rank;
  if (wants(g)) --sums_.missing;
  held_.add(g);
  changes_.add(g);
  frontier_ = std::max(frontier_, g + 1);
}

// No row of it is held any more, but where it is verified.
void Holdings::close(std::uint32_t g) {
  open_.erase(g);
  if (!verified_.contains(g)) held_.remove(g);
  changes_.add(g);
}

std::optional<std::uint32_t> Holdings::insert(std::uint32_t g, const Vector& vector,
                                              const Origin& origin, TimeUs now) {
  if (!wants(g)) return std::nullopt;
  OpenGeneration* open = extend_span(g, vector);
  if (!open) return std::nullopt;
  const auto free = std::find(open->vectors.begin(), open->vectors.end(), nullptr);
  const auto slot = static_cast<std::uint32_t>(free - open->vectors.begin());
  FIRN_CHECK(slot < blocks_in(g));  // rank = slots taken, so below that number there is a free one
  place(*open, g, slot, vector, origin, now);
  open->last_growth = now;
  if (origin.from_source) {
    source_frontier_ = std::max(source_frontier_, std::min(last_from_source_, g + 1));
    last_from_source_ = g + 1;
    source_row_at_ = now;
  }
  return slot;
}

bool Holdings::restore(std::uint32_t g, std::uint32_t slot, const Vector& vector,
                       const Origin& origin, TimeUs now) {
  if (verified_.contains(g) || slot >= blocks_in(g)) return false;
  const OpenGeneration* there = find_open(g);
  if (there && slot < there->vectors.size() && there->vectors[slot]) return false;
  OpenGeneration* open = extend_span(g, vector);
  if (!open) return false;
  place(*open, g, slot, vector, origin, now);
  return true;
}

void Holdings::mark(std::uint32_t g, const std::vector<std::uint32_t>& slots, Rows as) {
  OpenGeneration& open = open_.at(g);
  for (const std::uint32_t slot : slots) {
    if (as == Rows::kProven) open.standing[slot] = Standing::kProven;
    if (as == Rows::kTrusted) open.believed[slot] = true;
  }
  open.count_anew();
  changes_.add(g);
}

void Holdings::doubt(const PeerId& sender) {
  for (auto& [g, open] : open_) {
    if (open.rows_from(sender, Rows::kTrusted) == 0) continue;
    for (std::uint32_t slot = 0; slot < open.vectors.size(); ++slot) {
      if (open.senders[slot] == sender) open.believed[slot] = false;
    }
    open.count_anew();
    changes_.add(g);
  }
}

void Holdings::doubt_all(bool proven_too) {
  for (auto& [g, open] : open_) {
    for (Standing& standing : open.standing) {
      if (proven_too && standing == Standing::kProven) standing = Standing::kUnanswered;
    }
    open.believed.assign(open.believed.size(), false);
    open.count_anew();
  }
  changes_.add_all();
}

// The span is made anew: a basis knows no way back.
void Holdings::remove(std::uint32_t g, const std::vector<std::uint32_t>& slots) {
  OpenGeneration& open = open_.at(g);
  const Wanted before = sums_of(g);
  for (const std::uint32_t slot : slots) {
    total_rank_ -= open.vectors[slot] ? 1 : 0;
    open.vectors[slot].reset();
  }
  open.basis = codec::SpanBasis(blocks_in(g));
  open.decoding = false;
  for (const Vector& vector : open.vectors) FIRN_CHECK(!vector || open.basis.insert(*vector));
  open.count_anew();
  changes_.add(g);
  settle(g, before);
  if (open.rows == 0) close(g);
}

void Holdings::set_decoding(std::uint32_t g) {
  const auto it = open_.find(g);
  if (it != open_.end()) it->second.decoding = true;
}

void Holdings::set_verified(std::uint32_t g) {
  if (verified_.contains(g)) return;
  const Wanted before = sums_of(g);
  total_rank_ += blocks_in(g) - rank(g);
  close(g);
  given_up_.remove(g);
  verified_.add(g);
  settle(g, before);
  held_.add(g);
  frontier_ = std::max(frontier_, g + 1);
}

Holdings::Wanted Holdings::sums_of(std::uint32_t g) const {
  if (!wanted_.contains(g)) return {};
  const std::uint32_t blocks = blocks_in(g), held = rank(g);
  const std::uint64_t bytes = shape_.bytes_in_generation(g);
  return {blocks, held, wants(g) ? blocks - held : 0, bytes, verified_.contains(g) ? bytes : 0};
}

void Holdings::settle(std::uint32_t g, const Wanted& before) {
  if (wanted_.contains(g) && !verified_.contains(g) && !given_up_.contains(g)) {
    settled_.remove(g);
  } else {
    settled_.add(g);
  }
  const Wanted after = sums_of(g);
  sums_.blocks += after.blocks - before.blocks;
  sums_.rank += after.rank - before.rank;
  sums_.missing += after.missing - before.missing;
  sums_.bytes += after.bytes - before.bytes;
  sums_.verified_bytes += after.verified_bytes - before.verified_bytes;
}

void Holdings::reset(std::uint32_t g) {
  const Wanted before = sums_of(g);
  total_rank_ -= rank(g);
  verified_.remove(g);
  close(g);
  settle(g, before);
}

void Holdings::give_up(std::uint32_t g) {
  reset(g);
  const Wanted before = sums_of(g);
  given_up_.add(g);
  settle(g, before);
}

void Holdings::want(GenerationSet wanted) {
  FIRN_CHECK(wanted.size() == generation_count());
  wanted_ = std::move(wanted);
  sums_ = {};
  for (std::uint32_t g = 0; g < generation_count(); ++g) settle(g, {});
}

Holdings::Mix Holdings::recode(std::uint32_t g, std::vector<std::uint32_t> slots,
                               codec::CoefficientStream& random) const {
  const OpenGeneration* open = find_open(g);
  FIRN_CHECK(open && !slots.empty());
  Mix result;
  std::vector<const std::uint8_t*> vectors;
  vectors.reserve(slots.size());
  for (const std::uint32_t slot : slots) {
    FIRN_CHECK(slot < open->vectors.size() && open->vectors[slot]);
    vectors.push_back(open->rows_by_slot.data() + std::size_t{slot} * blocks_in(g));
  }
  result.slots = std::move(slots);
  result.mix = codec::random_mix(result.slots.size(), random);
  result.vector.resize(blocks_in(g));
  codec::mix_vectors(codec::kernels(), result.mix, vectors, result.vector);
  return result;
}

}  // namespace firn::core
