// Frames on their way: uplinks, paths, downlinks.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/sim/lab/lab_impl.h"

namespace firn::sim {

double Lab::wire_bytes(const Frame& frame) const {
  return frame.bytes * wire_.share + (frame.block ? 0 : wire_.alone_bytes);
}

void Lab::release(Slot slot) {
  frames_[slot].message = proto::Goodbye{};
  free_frames_.push_back(slot);
}

// Those of which a part has gone are not used again: events may still name them.
void Lab::release_queued(End& end) {
  for (const Slot slot : std::exchange(end.queued, {})) {
    if (!end.window || !frames_[slot].begun) release(slot);
  }
}

void Lab::enqueue(Peer& peer, core::PeerKey key, proto::PeerMessage&& message) {
  End& end = end_of(key);
  if (end.gone) return;
  if (free_frames_.empty()) {
    free_frames_.push_back(static_cast<Slot>(frames_.size()));
    frames_.emplace_back();
  }
  const Slot slot = free_frames_.back();
  free_frames_.pop_back();
  Frame& frame = frames_[slot];
  frame.bytes = static_cast<std::uint32_t>(proto::wire_bytes(message));
  frame.block = std::holds_alternative<proto::Block>(message);
  frame.from = key;
  frame.message = std::move(message);
  frame.unsent = frame.missing = static_cast<std::uint32_t>(std::ceil(wire_bytes(frame)));
  frame.begun = frame.told = frame.arriving = false;
  end.queued.push_back(slot);
  take_turn(peer, key);
}

// A connection has a turn while it has anything that it may send.
void Lab::take_turn(Peer& peer, core::PeerKey key) {
  End& end = end_of(key);
  if (!end.queued.empty() && !std::exchange(end.has_turn, true)) peer.turns.push_back(key);
  transmit(peer);
}

void Lab::transmit(Peer& peer) {
  while (!peer.transmitting && !peer.turns.empty()) {
    const core::PeerKey key = peer.turns.front();
    End& end = end_of(key);
    peer.burst = 0;
    if (!end.gone && !end.queued.empty() && end.window) {
      peer.burst = end.window->may_send(frames_[end.queued.front()].unsent);
    }
    if (end.gone || end.queued.empty() || (end.window && peer.burst == 0)) {
      end.has_turn = false;
      peer.turns.pop_front();
      continue;
    }
    peer.sending = end.queued.front();
    Frame& frame = frames_[peer.sending];
    const double bytes = end.window ? peer.burst : wire_bytes(frame);
    const auto takes = static_cast<TimeUs>(std::ceil(bytes / peer.spec.link.up * 1e6));
    if (end.window) end.window->sent(peer.burst);
    frame.begun = true;
    peer.transmitting = true;
    peer.result.bytes_sent += bytes;
    if (!frame.block) peer.result.control_bytes += bytes;
    peer.result.busy_us += static_cast<double>(takes);
    post(takes, kDeparted, peer, key);
  }
}

void Lab::departed(Peer& peer, core::PeerKey key) {
  peer.transmitting = false;
  End& end = end_of(key);
  peer.turns.pop_front();
  end.has_turn = false;
  if (!end.gone && !end.queued.empty()) {
    const Slot slot = peer.sending;
    Frame& frame = frames_[slot];
    const std::uint32_t to = end_of(key ^ 1).peer;
    if (end.window) {
      frame.unsent -= peer.burst;
      queue_.post({queue_.now() + path_of(key), kBurst, to, 0, pair(slot, peer.burst)});
    } else {
      frame.unsent = 0;
      queue_.post({queue_.now() + path_of(key), kArrived, to, 0, slot});
    }
    if (frame.unsent == 0) {
      end.queued.erase(std::find(end.queued.begin(), end.queued.end(), slot));
      if (frame.block && !std::exchange(frame.told, true)) {
        ++peer.result.blocks_sent;
        peer.core->block_departed(key, frame.bytes, queue_.now());
      }
    }
    if (!end.queued.empty() && !std::exchange(end.has_turn, true)) peer.turns.push_back(key);
    close_if_done(key);
  }
  transmit(peer);
  act(peer);
  if (peer.spec.source && source_copies_ > 0 && source_left_ < 0 &&
      static_cast<double>(peer.result.blocks_sent) >=
          source_copies_ * static_cast<double>(blocks_in_content_)) {
    source_left_ = queue_.now();
    die(peer, true);
  }
}

void Lab::delivered(Slot slot) {
  Frame& frame = frames_[slot];
  const core::PeerKey key = frame.from ^ 1;
  End& end = end_of(key);
  Peer& peer = *peers_[end.peer];
  if (!end.gone && peer.core) {
    const std::size_t bytes = frame.bytes;
    peer.core->message(key, std::move(frame.message), bytes, queue_.now());
    act(peer);
  }
  release(slot);
}

// --- downlinks with a limit: frames go in bursts, of which some may be lost (downlink.h) ---

// A burst is at the downlink's buffer.
void Lab::burst_came(Peer& peer, Slot slot, std::uint32_t bytes) {
  Frame& frame = frames_[slot];
  const core::PeerKey key = frame.from;
  End& end = end_of(key ^ 1);
  if (end.gone || !peer.core) return;
  if (!std::exchange(frame.arriving, true)) end.arriving.push_back(slot);
  Peer& sender = *peers_[end_of(key).peer];
  const auto came_over = static_cast<TimeUs>(bytes / sender.spec.link.up * 1e6);
  const Downlink::Taken taken = peer.downlink.take(bytes, came_over, queue_.now());
  if (taken.bytes > 0) post(taken.through, kThrough, peer, pair(slot, taken.bytes));
  if (taken.bytes < bytes) {
    post(taken.through + path_of(key), kLost, sender, pair(slot, bytes - taken.bytes));
  }
}

// It is through. A frame whose last byte is here is delivered after those sent before it.
void Lab::burst_through(Slot slot, std::uint32_t bytes) {
  Frame& frame = frames_[slot];
  const core::PeerKey key = frame.from;
  End& end = end_of(key ^ 1);
  if (end.gone) return;
  frame.missing -= bytes;
  post(path_of(key), kAcknowledged, *peers_[end_of(key).peer], pair(key, bytes));
  while (!end.arriving.empty() && frames_[end.arriving.front()].missing == 0) {
    const Slot first = end.arriving.front();
    end.arriving.erase(end.arriving.begin());
    delivered(first);
  }
}

void Lab::acknowledged(Peer& peer, core::PeerKey key, std::uint32_t bytes) {
  End& end = end_of(key);
  if (end.gone) return;
  end.window->acknowledged(bytes);
  take_turn(peer, key);
  close_if_done(key);
}

// What was lost goes again, before what has not gone yet.
void Lab::lost(Peer& peer, Slot slot, std::uint32_t bytes) {
  Frame& frame = frames_[slot];
  End& end = end_of(frame.from);
  if (end.gone) return;
  end.window->lost(bytes);
  if (frame.unsent == 0) end.queued.insert(end.queued.begin(), slot);
  frame.unsent += bytes;
  take_turn(peer, frame.from);
}

// --- ends of connections ---

void Lab::close_if_done(core::PeerKey key) {
  const End& end = end_of(key);
  if (end.closing && end.queued.empty() && (!end.window || end.window->idle())) close(key);
}

// This end has sent all it will: the other end hears of it after what was sent before.
void Lab::close(core::PeerKey key) {
  End& end = end_of(key);
  if (std::exchange(end.gone, true)) return;
  post(path_of(key), kClosing, *peers_[end_of(key ^ 1).peer], key ^ 1);
}

void Lab::other_end_closed(core::PeerKey key) {
  End& end = end_of(key);
  if (std::exchange(end.gone, true)) return;
  release_queued(end);
  Peer& peer = *peers_[end.peer];
  peer.core->peer_closed(key, queue_.now());
  act(peer);
}

}  // namespace firn::sim
