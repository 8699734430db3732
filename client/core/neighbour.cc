#include "client/core/neighbour.h"

#include <algorithm>
#include <utility>

namespace firn::core {

Neighbour::Neighbour(PeerKey key_, const PeerId& id_, std::string ip_, std::uint16_t port_,
                     bool outgoing_, TimeUs now)
    : key(key_), id(id_), ip(std::move(ip_)), port(port_), outgoing(outgoing_), opened(now) {}

void Neighbour::set_shape(std::uint32_t generation_count, std::uint32_t generation_size) {
  generation_size_ = generation_size;
  complete_ = GenerationSet(generation_count);
  partial_.clear();
  total_rank_ = 0;
}

void Neighbour::mark_complete(std::uint32_t g) {
  if (complete_.contains(g)) return;
  total_rank_ += generation_size_ - partial_rank(g);
  partial_.erase(g);
  complete_.add(g);
}

void Neighbour::mark_incomplete(std::uint32_t g) {
  if (!complete_.contains(g)) return;
  total_rank_ -= generation_size_;
  complete_.remove(g);
}

bool Neighbour::acknowledge(std::uint32_t sequence) {
  if (sequence > sequence_) return false;
  // States may overtake one another only in appearance: one rides on a block that waits, a later
  // one travels alone. An older acknowledgement is simply out of date.
  acknowledged_ = std::max(acknowledged_, sequence);
  while (!in_flight_.empty() && in_flight_.front().first <= acknowledged_) {
    const auto it = partial_.find(in_flight_.front().second);
    if (it != partial_.end() && it->second.in_flight > 0) --it->second.in_flight;
    in_flight_.pop_front();
  }
  return true;
}

bool Neighbour::apply_state(proto::State&& state) {
  if (!acknowledge(state.acknowledged)) return false;
  credit_ = std::max(credit_, state.credit);
  prefers_coded = state.prefer_coded;
  const std::uint32_t count = complete_.size();
  for (const proto::Span& span : state.complete) {
    if (span.first > count || span.count > count - span.first) return false;
    for (std::uint32_t g = span.first; g < span.first + span.count; ++g) mark_complete(g);
  }
  for (proto::GenerationState& update : state.generations) {
    if (update.generation >= count || update.rank > generation_size_) return false;
    if (!update.null_vector.empty() && update.null_vector.size() != generation_size_) return false;
    mark_incomplete(update.generation);
    RemoteGeneration& remote = partial_[update.generation];
    total_rank_ += update.rank;
    total_rank_ -= remote.rank;
    remote.rank = update.rank;
    remote.quota = update.quota;
    if (!update.null_vector.empty()) {
      remote.null_vector = std::move(update.null_vector);
      remote.null_tested_at = UINT32_MAX;
    }
  }
  state_seen = true;
  return true;
}

std::uint32_t Neighbour::book_block(std::uint32_t generation, TimeUs now) {
  RemoteGeneration& remote = partial_[generation];
  ++remote.in_flight;
  ++remote.sent;
  remote.null_vector.clear();
  remote.null_reached = false;
  ++queued;
  served_rate_.add(1, now);
  in_flight_.emplace_back(++sequence_, generation);
  return sequence_;
}

void Neighbour::block_departed(std::uint64_t bytes, TimeUs now) {
  if (queued > 0) --queued;
  ++departed_;
  sent_rate_.add(bytes, now);
  if (bytes > 0) {
    ++blocks_sent;
    return;
  }
  const auto lost = std::find_if(in_flight_.begin(), in_flight_.end(),
                                 [&](const auto& entry) { return entry.first == departed_; });
  if (lost == in_flight_.end()) return;
  const auto it = partial_.find(lost->second);
  if (it != partial_.end() && it->second.in_flight > 0) --it->second.in_flight;
  in_flight_.erase(lost);
}

bool Neighbour::book_arrival(std::uint32_t sequence, std::uint64_t bytes, TimeUs now) {
  if (sequence <= highest_received || sequence > credit_granted) return false;
  highest_received = sequence;
  last_arrival = now;
  ++blocks_received;
  received_rate_.add(bytes, now);
  return true;
}

}  // namespace firn::core
