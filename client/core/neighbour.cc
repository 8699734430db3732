#include "client/core/neighbour.h"

#include <algorithm>
#include <utility>

#include "client/core/policy.h"
#include "proto/limits.h"

namespace firn::core {

Neighbour::Neighbour(PeerKey key_, const PeerId& id_, std::string ip_, std::uint16_t port_,
                     bool outgoing_, TimeUs now)
    : key(key_), id(id_), ip(std::move(ip_)), port(port_), outgoing(outgoing_), opened(now) {
  heard_at = now;
}

void Neighbour::set_shape(const Shape& shape) {
  shape_ = shape;
  complete_ = GenerationSet(shape.generation_count());
  settled_ = GenerationSet(shape.generation_count());
  withdrawn_ = GenerationSet();
  partial_ = RemoteGenerations(shape.generation_count());
  null_vectors_.clear();
  total_rank_ = 0;
}

void Neighbour::mark_complete(std::uint32_t g) {
  if (complete_.contains(g)) return;
  total_rank_ += shape_.blocks_in(g) - partial_rank(g);
  drop_null_vector(g);
  partial_.erase(g);
  complete_.add(g);
  settled_.add(g);
  if (withdrawn_.size() > 0) withdrawn_.remove(g);
}

void Neighbour::mark_incomplete(std::uint32_t g) {
  if (!complete_.contains(g)) return;
  total_rank_ -= shape_.blocks_in(g);
  complete_.remove(g);
  settled_.remove(g);
}

void Neighbour::withdraw(const proto::Span& span) {
  const std::uint32_t end = span.first + span.count;
  if (withdrawn_.size() == 0) withdrawn_ = GenerationSet(complete_.size());
  for (std::uint32_t g = complete_.next_present(span.first); g < end;
       g = complete_.next_present(g + 1)) {
    mark_incomplete(g);
    ++taken_back_;
  }
  for (std::uint32_t g = withdrawn_.next_missing(span.first); g < end;
       g = withdrawn_.next_missing(g + 1)) {
    withdrawn_.add(g);
  }
}

void Neighbour::settle_unwanted(const proto::Span& span) {
  const std::uint32_t end = span.first + span.count;
  for (std::uint32_t g = complete_.next_present(span.first); g < end;
       g = complete_.next_present(g + 1)) {
    mark_incomplete(g);
    ++taken_back_;
  }
  for (std::uint32_t g = settled_.next_missing(span.first); g < end;
       g = settled_.next_missing(g + 1)) {
    total_rank_ -= partial_rank(g);
    drop_null_vector(g);
    partial_.erase(g);
    settled_.add(g);
  }
}

// A span of a few bytes can make a million generations incomplete. A peer that takes back
// what it said again and again would keep us busy, so it may do so at the rate of its States.
bool Neighbour::take_back(const proto::State& state) {
  for (const proto::Span& span : state.withdrawn) withdraw(span);
  for (const proto::Span& span : state.unwanted) settle_unwanted(span);
  ++states_;
  return taken_back_ <= complete_.size() + states_ * limits::kTakenBackPerState;
}

bool Neighbour::acknowledge(std::uint32_t sequence) {
  if (sequence > sequence_) return false;
  // States may overtake one another only in appearance: one rides on a block that waits, a later
  // one travels alone. An older acknowledgement is simply out of date.
  acknowledged_ = std::max(acknowledged_, sequence);
  std::size_t arrived = 0;
  while (arrived < in_flight_.size() && in_flight_[arrived].first <= acknowledged_) {
    not_in_flight(in_flight_[arrived].first, in_flight_[arrived].second);
    ++arrived;
  }
  in_flight_.erase(in_flight_.begin(), in_flight_.begin() + static_cast<std::ptrdiff_t>(arrived));
  return true;
}

void Neighbour::not_in_flight(std::uint32_t sequence, std::uint32_t g) {
  RemoteGeneration* known = partial_.find(g);
  if (!known || sequence < known->first_sequence) return;
  if (known->in_flight > 0) --known->in_flight;
}

RemoteGeneration& Neighbour::remote(std::uint32_t g) {
  bool fresh = false;
  RemoteGeneration& known = partial_.open(g, fresh);
  if (fresh) known.first_sequence = sequence_ + 1;
  return known;
}

NullVector* Neighbour::null_vector(std::uint32_t g) {
  for (auto& [generation, kept] : null_vectors_) {
    if (generation == g) return &kept;
  }
  return nullptr;
}

void Neighbour::drop_null_vector(std::uint32_t g) {
  RemoteGeneration* known = partial_.find(g);
  if (!known || !known->has_null_vector) return;
  known->has_null_vector = false;
  std::erase_if(null_vectors_, [g](const auto& kept) { return kept.first == g; });
}

// A vector costs n bytes, and nothing obliges a neighbour to send few of them.
void Neighbour::keep_null_vector(std::uint32_t g, std::vector<std::uint8_t>&& z) {
  drop_null_vector(g);
  if (null_vectors_.size() >= policy::kNullVectorsKept) {
    drop_null_vector(null_vectors_.front().first);
  }
  remote(g).has_null_vector = true;
  null_vectors_.push_back({g, {std::move(z), UINT32_MAX, false}});
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

bool Neighbour::apply_state(proto::State&& state) {
  if (!acknowledge(state.acknowledged)) return false;
  credit_ = std::max(credit_, state.credit);
  prefers_coded = state.prefer_coded;
  upload_kib = state.upload_kib;
  if (state.neighbours > 0) neighbours = state.neighbours;
  const std::uint32_t count = complete_.size();
  if (!possible(state.complete, count) || !possible(state.unwanted, count) ||
      !possible(state.withdrawn, count))
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
  for (proto::GenerationState& update : state.generations) {
    if (update.generation >= count) return false;
    const std::uint32_t blocks = shape_.blocks_in(update.generation);
    if (update.rank > blocks) return false;
    if (!update.null_vector.empty() && update.null_vector.size() != blocks) return false;
    mark_incomplete(update.generation);
    if (update.quota > 0) settled_.remove(update.generation);
    if (!partial_.has_room(update.generation)) continue;
    RemoteGeneration& known = remote(update.generation);
    total_rank_ += update.rank;
    total_rank_ -= known.rank;
    known.rank = static_cast<std::uint16_t>(update.rank);
    known.quota =
        static_cast<std::uint16_t>(std::min<std::size_t>(update.quota, limits::kGenerationSizeMax));
    if (!update.null_vector.empty()) {
      keep_null_vector(update.generation, std::move(update.null_vector));
    }
  }
  state_seen = true;
  return true;
}

std::uint32_t Neighbour::book_block(std::uint32_t generation, TimeUs now) {
  RemoteGeneration& to = remote(generation);
  ++to.in_flight;
  ++to.sent;
  drop_null_vector(generation);
  if (queued++ == 0) waiting_since_ = now;
  served_rate_.add(1, now);
  in_flight_.emplace_back(++sequence_, generation);
  to.first_sequence = std::min(to.first_sequence, sequence_);
  return sequence_;
}

std::uint32_t Neighbour::block_departed(std::uint64_t bytes, TimeUs now) {
  if (queued == 0) return 0;
  --queued;
  const std::uint32_t number = ++departed_;
  waiting_since_ = now;
  sent_rate_.add(bytes, now);
  if (bytes > 0) {
    const double blocks = send_rate(now) * static_cast<double>(policy::kPipelineTime) * 1e-6 /
                          static_cast<double>(bytes);
    depth_ =
        std::clamp(static_cast<std::uint32_t>(std::min(blocks, 1e6)), 1u, policy::kPipelineMax);
    last_sent_ = departed_;
    last_departure = now;
    ++blocks_sent;
    return number;
  }
  const auto lost = std::find_if(in_flight_.begin(), in_flight_.end(),
                                 [&](const auto& entry) { return entry.first == departed_; });
  if (lost != in_flight_.end()) {
    not_in_flight(lost->first, lost->second);
    in_flight_.erase(lost);
  }
  if (departed_ == sequence_) sequence_ = departed_ = last_sent_;
  return number;
}

void Neighbour::report(std::uint32_t g) {
  if (!has_reports()) touch();
  const auto at = std::lower_bound(changed.begin(), changed.end(), g);
  if (at == changed.end() || *at != g) changed.insert(at, g);
}

void Neighbour::unreport(std::uint32_t g) {
  const auto at = std::lower_bound(changed.begin(), changed.end(), g);
  if (at != changed.end() && *at == g) changed.erase(at);
}

void Neighbour::report_complete(std::uint32_t g) {
  touch();
  unreport(g);
  std::erase(new_withdrawn, g);
  new_complete.push_back(g);
}

void Neighbour::report_withdrawn(std::uint32_t g) {
  touch();
  std::erase(new_complete, g);
  new_withdrawn.push_back(g);
}

// Where it had credit left, the answer takes longer than the path: so the shortest counts.
void Neighbour::grant(std::uint32_t blocks, TimeUs now) {
  if (awaited_ == 0) {
    awaited_ = credit_granted + 1;
    awaited_since_ = now;
  }
  credit_granted += blocks;
  last_grant = now;
}

bool Neighbour::book_arrival(std::uint32_t sequence, std::uint64_t bytes, TimeUs now) {
  if (sequence <= highest_received || sequence > credit_granted) return false;
  highest_received = sequence;
  const TimeUs pause = now - std::exchange(last_arrival, now);
  if (awaited_ != 0 && sequence >= awaited_) {
    const TimeUs took = std::max<TimeUs>(now - awaited_since_, 1);
    ran_dry |= pause > took / policy::kDryPause;
    if (took <= policy::kRoundTripMax) {
      round_trip_ = round_trip_ == 0 ? took : std::min(round_trip_, took);
    }
    awaited_ = 0;
  }
  touch();
  ++blocks_received;
  received_rate_.add(bytes, now);
  return true;
}

}  // namespace firn::core
