#include "tests/sim/uplink.h"

#include <cmath>
#include <utility>

#include "tests/sim/network.h"
#include "tests/sim/peer.h"

namespace firn::sim {

void Uplink::enqueue(core::PeerKey key, Frame frame) {
  const auto queue = queues_.find(key);
  if (queue == queues_.end()) return;
  queue->second.push_back(std::move(frame));
  transmit();
}

void Uplink::close(core::PeerKey key) {
  const auto queue = queues_.find(key);
  if (queue == queues_.end()) return;
  if (queue->second.empty()) {
    queues_.erase(queue);
    network_.close(peer_.index(), key);
  } else {
    closing_.push_back(key);
  }
}

void Uplink::lost(core::PeerKey key) {
  queues_.erase(key);
  std::erase(closing_, key);
}

void Uplink::crashed() {
  queues_.clear();
  closing_.clear();
  transmitting_ = false;
}

void Uplink::transmit() {
  if (transmitting_) return;
  auto next = queues_.end();
  for (auto it = queues_.begin(); it != queues_.end(); ++it) {
    if (it->second.empty() || !network_.reads(peer_.index(), it->first)) continue;
    if (next == queues_.end() || (it->first > last_served_ && next->first <= last_served_)) {
      next = it;
    }
  }
  if (next == queues_.end()) return;
  transmitting_ = true;
  last_served_ = next->first;
  const auto bytes = static_cast<double>(next->second.front().bytes) * network_.pipe_overhead();
  const auto takes = static_cast<TimeUs>(std::ceil(bytes / peer_.spec().link.up * 1e6));
  peer_.later_in_life(takes, [this, key = next->first] { departed(key); });
}

void Uplink::departed(core::PeerKey key) {
  transmitting_ = false;
  bool told = false;  // the core hears of some departures alone
  const auto queue = queues_.find(key);
  if (queue != queues_.end() && !queue->second.empty()) {
    Frame frame = std::move(queue->second.front());
    queue->second.pop_front();
    if (frame.block) {
      ++blocks_departed_;
      peer_.core().blocks_departed(key, 1, frame.bytes, peer_.now());
      told = true;
    } else if (std::holds_alternative<proto::ManifestPart>(frame.message)) {
      peer_.core().manifest_part_departed(key, peer_.now());
      told = true;
    }
    network_.deliver(peer_.index(), key, std::move(frame.message), frame.bytes);
    if (queue->second.empty() && std::erase(closing_, key) > 0) {
      queues_.erase(queue);
      network_.close(peer_.index(), key);
    }
  }
  transmit();
  if (told) peer_.act();
}

}  // namespace firn::sim
