#include "client/core/neighbour/remote_holdings.h"

#include <algorithm>
#include <bit>

#include "proto/base/limits.h"

namespace firn::core {

void RemoteHoldings::set_shape(const Shape& shape) {
  shape_ = shape;
  complete_ = GenerationSet(shape.generation_count());
  settled_ = GenerationSet(shape.generation_count());
  withdrawn_ = GenerationSet();
  partial_ = RemoteGenerations(shape.generation_count());
  urgent_.clear();
  null_vectors_.clear();
  wanted_blocks_.clear();
  held_blocks_.clear();
  changes_.add_all();
  total_rank_ = rows_spared_ = 0;
}

void RemoteHoldings::mark_complete(std::uint32_t g) {
  if (complete_.contains(g)) return;
  total_rank_ += shape_.blocks_in(g) - rank(g);
  rows_spared_ -= spared(g);
  forget_partial(g);
  complete_.add(g);
  settled_.add(g);
  if (withdrawn_.size() > 0) withdrawn_.remove(g);
}

void RemoteHoldings::mark_incomplete(std::uint32_t g) {
  if (!complete_.contains(g)) return;
  total_rank_ -= shape_.blocks_in(g);
  complete_.remove(g);
  settled_.remove(g);
}

void RemoteHoldings::withdraw(const proto::Span& span) {
  const std::uint32_t end = span.first + span.count;
  if (withdrawn_.size() == 0) withdrawn_ = GenerationSet(complete_.size());
  for (std::uint32_t g = withdrawn_.next_missing(span.first); g < end;
       g = withdrawn_.next_missing(g + 1)) {
    withdrawn_.add(g);
  }
}

void RemoteHoldings::settle_unwanted(const proto::Span& span) {
  const std::uint32_t end = span.first + span.count;
  for (std::uint32_t g = settled_.next_missing(span.first); g < end;
       g = settled_.next_missing(g + 1)) {
    total_rank_ -= rank(g);
    forget_partial(g);
    settled_.add(g);
    rows_spared_ += spared(g);
  }
}

// A span of a few bytes can make a million generations incomplete. A peer that takes back what it
// said again and again would keep us busy, so it may do so at the rate of its States.
bool RemoteHoldings::take_back(const proto::State& state) {
  const auto make_incomplete = [this](const proto::Span& span) {
    for (std::uint32_t g = complete_.next_present(span.first); g < span.first + span.count;
         g = complete_.next_present(g + 1)) {
      mark_incomplete(g);
      ++taken_back_;
    }
  };
  std::ranges::for_each(state.withdrawn, make_incomplete);
  std::ranges::for_each(state.unwanted, make_incomplete);
  for (const proto::Span& span : state.withdrawn) withdraw(span);
  for (const proto::Span& span : state.unwanted) settle_unwanted(span);
  if (!state.withdrawn.empty() || !state.unwanted.empty()) changes_.add_all();
  ++states_;
  return taken_back_ <= complete_.size() + states_ * limits::kTakenBackPerState;
}

void RemoteHoldings::in_flight(std::uint32_t g, std::uint32_t sequence) {
  RemoteGeneration& to = partial_.open(g, sequence);
  ++to.in_flight;
  ++to.sent;
  drop_null_vector(g);
  to.first_sequence = std::min(to.first_sequence, sequence);
}

void RemoteHoldings::mixture_sent(std::uint32_t g, const std::vector<std::uint32_t>& slots) {
  RemoteGeneration* known = partial_.find(g);
  if (!known) return;
  for (const std::uint32_t slot : slots) known->mixed.add(slot);
}

void RemoteHoldings::rows_gone(std::uint32_t g, const std::vector<std::uint32_t>* slots) {
  RemoteGeneration* known = partial_.find(g);
  if (!known) return;
  changes_.add(g);
  if (!slots) {
    known->mixed.clear();
    known->sent = 0;
    return;
  }
  for (const std::uint32_t slot : *slots) known->mixed.remove(slot);
  known->sent -= std::min(known->sent, static_cast<std::uint32_t>(slots->size()));
}

void RemoteHoldings::not_in_flight(std::uint32_t g, std::uint32_t sequence) {
  RemoteGeneration* known = partial_.find(g);
  if (!known || sequence < known->first_sequence) return;
  if (known->in_flight > 0) --known->in_flight;
  changes_.add(g);
}

bool RemoteHoldings::asks() const {
  std::uint32_t shut = 0;
  partial_.each([&](std::uint32_t g, const RemoteGeneration& known) {
    if (known.quota == 0 && wants(g)) ++shut;
  });
  return heard_ && settled_.count() + shut < settled_.size();
}

bool RemoteHoldings::shares_interest(const GenerationSet& settled,
                                     const GenerationSet& complete) const {
  if (rows_spared_ == 0) return true;
  std::uint32_t both = 0, its = 0;
  for (std::uint32_t g = 0; g < settled_.size(); g += kWordBits) {
    const std::uint64_t spared_here = settled_.window(g) & ~complete_.window(g);
    const std::uint64_t spared_there = settled.window(g) & ~complete.window(g);
    const std::uint32_t there = std::min(settled_.size() - g, kWordBits);
    its += there - static_cast<std::uint32_t>(std::popcount(spared_there));
    both += there - static_cast<std::uint32_t>(std::popcount(spared_here | spared_there));
  }
  return 2 * both >= its;
}

const NullVector* RemoteHoldings::null_vector(std::uint32_t g) const {
  for (const auto& [generation, kept] : null_vectors_) {
    if (generation == g) return &kept;
  }
  return nullptr;
}

void RemoteHoldings::drop_null_vector(std::uint32_t g) {
  RemoteGeneration* known = partial_.find(g);
  if (!known || !known->has_null_vector) return;
  known->has_null_vector = false;
  std::erase_if(null_vectors_, [g](const auto& kept) { return kept.first == g; });
}

void RemoteHoldings::forget_partial(std::uint32_t g) {
  drop_null_vector(g);
  wanted_blocks_.drop(g);
  held_blocks_.drop(g);
  partial_.erase(g);
  not_urgent(g);
}

// A vector costs n bytes, and nothing obliges a neighbour to send few of them.
void RemoteHoldings::keep_null_vector(std::uint32_t g, std::vector<std::uint8_t>&& z,
                                      std::uint32_t next_sequence) {
  drop_null_vector(g);
  if (null_vectors_.size() >= kNullVectorsKept) {
    drop_null_vector(null_vectors_.front().first);
  }
  partial_.open(g, next_sequence).has_null_vector = true;
  null_vectors_.emplace_back(g, NullVector(std::move(z)));
}

namespace {

// Whether all spans are of generations that exist, and name none twice.
bool possible(const std::vector<proto::Span>& spans, std::uint32_t generation_count) {
  std::uint64_t told = 0;
  for (const proto::Span& span : spans) {
    if (span.first > generation_count || span.count > generation_count - span.first) return false;
    told += span.count;
    if (told > generation_count) return false;  // some generation twice
  }
  return true;
}

}  // namespace

bool RemoteHoldings::apply_rank(proto::GenerationState&& update, std::uint32_t next_sequence) {
  const std::uint32_t g = update.generation;
  if (g >= complete_.size()) return false;
  const std::uint32_t blocks = shape_.blocks_in(g);
  if (update.rank > blocks) return false;
  if (!update.null_vector.empty() && update.null_vector.size() != blocks) return false;
  for (const BlockBits* bits : {&update.wanted_blocks, &update.held_blocks})
    if (!bits->empty() && !are_block_bits(*bits, blocks)) return false;
  changes_.add(g);
  mark_incomplete(g);
  rows_spared_ -= spared(g);
  if (update.quota > 0) settled_.remove(g);
  if (!partial_.has_room(g)) {
    rows_spared_ += spared(g);
    return true;
  }
  RemoteGeneration& known = partial_.open(g, next_sequence);
  total_rank_ += update.rank;
  total_rank_ -= known.rank;
  known.rank = static_cast<std::uint16_t>(update.rank);
  rows_spared_ += spared(g);
  known.quota =
      static_cast<std::uint16_t>(std::min<std::size_t>(update.quota, limits::kGenerationSizeMax));
  if (!update.null_vector.empty()) {
    keep_null_vector(g, std::move(update.null_vector), next_sequence);
  }
  if (update.held_blocks.empty()) {
    held_blocks_.drop(g);
  } else {
    held_blocks_.at(g) = std::move(update.held_blocks);
  }
  if (update.urgency > 0 && urgent_.size() < kUrgentMax)
    urgent_.emplace(update.urgency < proto::kAwaited, g);
  known.plain = !update.wanted_blocks.empty();
  if (known.plain) {
    wanted_blocks_.at(g).keep(std::move(update.wanted_blocks), known.in_flight == 0);
  } else {
    wanted_blocks_.drop(g);
  }
  return true;
}

bool RemoteHoldings::apply(proto::State&& state, std::uint32_t next_sequence) {
  prefers_coded_ = state.prefer_coded;
  const Rows takes = state.proven_only    ? Rows::kProven
                     : state.trusted_only ? Rows::kTrusted
                                          : Rows::kAll;
  if (std::exchange(takes_, takes) != takes) changes_.add_all();
  upload_kib_ = state.upload_kib;
  if (state.neighbours > 0) connections_ = state.neighbours;
  const std::uint32_t count = complete_.size();
  if (!possible(state.complete, count) || !possible(state.unwanted, count) ||
      !possible(state.withdrawn, count) || !possible(state.fetching, count))
    return false;
  for (const proto::Span& span : state.complete) {
    // From one that is missing to the next: saying the same again and again costs us little.
    const std::uint32_t end = span.first + span.count;
    for (std::uint32_t g = complete_.next_missing(span.first); g < end;
         g = complete_.next_missing(g + 1)) {
      mark_complete(g);
    }
  }
  if (!take_back(state)) return false;
  for (const proto::GenerationState& update : state.generations) not_urgent(update.generation);
  for (proto::GenerationState& update : state.generations) {
    if (!apply_rank(std::move(update), next_sequence)) return false;
  }
  heard_ = true;
  return true;
}

}  // namespace firn::core
