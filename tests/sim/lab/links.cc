#include "tests/sim/lab/links.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "proto/base/result.h"
#include "tests/sim/lab/lab_events.h"

namespace firn::sim {

void Links::add(const LabLink& link) {
  Station& station = stations_.emplace_back();
  station.peer = static_cast<std::uint32_t>(stations_.size() - 1);
  station.link = link;
  station.downlink = Downlink(link);
}

void Links::handle(const LabEvent& event) {
  Station& station = stations_[event.peer];
  const auto first = static_cast<std::uint32_t>(event.value >> 32);
  const auto second = static_cast<std::uint32_t>(event.value);
  switch (event.kind) {
    case kArrived:
      return delivered(second);
    case kBurst:
      return burst_came(station, first, second);
    case kThrough:
      return burst_through(first, second);
    default:
      break;
  }
  if (station.cut) return;
  switch (event.kind) {
    case kDeparted:
      return departed(station, event.value);
    case kClosing:
      return post(station.downlink.backlog(queue_.now()), kOtherClosed, event.peer, event.value);
    case kOtherClosed:
      return other_end_closed(event.value);
    case kLost:
      return lost(first, second);
    default:
      return acknowledged(first, second);
  }
}

TimeUs Links::path_between(std::uint32_t a, std::uint32_t b) const {
  return stations_[a].link.delay / 2 + stations_[b].link.delay / 2;
}

core::PeerKey Links::connect(std::uint32_t caller, std::uint32_t callee) {
  connections_.emplace_back().path = path_between(caller, callee);
  const core::PeerKey key = connections_.size() * 2;
  FIRN_CHECK(key < (std::uint64_t{1} << 32));
  end_of(key).peer = caller;
  end_of(key + 1).peer = callee;
  if (stations_[callee].downlink.limited()) {
    end_of(key).window = std::make_unique<CongestionWindow>();
  }
  if (stations_[caller].downlink.limited()) {
    end_of(key + 1).window = std::make_unique<CongestionWindow>();
  }
  return key;
}

void Links::cut(std::uint32_t peer) {
  stations_[peer].cut = true;
  for (std::size_t c = 0; c < connections_.size(); ++c) {
    for (const std::size_t e : {std::size_t{0}, std::size_t{1}}) {
      End& end = connections_[c].ends[e];
      if (end.peer != peer || end.gone) continue;
      end.gone = true;
      release_queued(end);
      const core::PeerKey other = (c + 1) * 2 + (e ^ 1);
      post(connections_[c].path, kOtherClosed, end_of(other).peer, other);
    }
  }
}

// --- uplinks ---

double Links::wire_bytes(const Frame& frame, std::uint32_t sender) const {
  const bool source = sender == 0;  // the first of a setting's peers
  const double share = wire_.share + (source ? 0 : wire_.acknowledgements);
  return frame.bytes * share + (frame.block ? 0 : wire_.alone_bytes);
}

void Links::release(Slot slot) {
  frames_[slot].message = proto::Goodbye{};
  free_frames_.push_back(slot);
}

// Those of which a part has gone are not used again: events may still name them.
void Links::release_queued(End& end) {
  for (const Slot slot : std::exchange(end.queued, {})) {
    if (!end.window || !frames_[slot].begun) release(slot);
  }
}

void Links::send(core::PeerKey key, proto::PeerMessage&& message) {
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
  frame.unsent = frame.missing = static_cast<std::uint32_t>(std::ceil(wire_bytes(frame, end.peer)));
  frame.begun = frame.told = frame.arriving = false;
  end.queued.push_back(slot);
  take_turn(key);
}

// A connection has a turn while it has anything that it may send.
void Links::take_turn(core::PeerKey key) {
  End& end = end_of(key);
  Station& station = stations_[end.peer];
  if (!end.queued.empty() && !std::exchange(end.has_turn, true)) station.turns.push_back(key);
  transmit(station);
}

void Links::transmit(Station& station) {
  while (!station.transmitting && !station.turns.empty()) {
    const core::PeerKey key = station.turns.front();
    End& end = end_of(key);
    station.burst = 0;
    if (!end.gone && !end.queued.empty() && end.window) {
      station.burst = end.window->may_send(frames_[end.queued.front()].unsent);
    }
    if (end.gone || end.queued.empty() || (end.window && station.burst == 0)) {
      end.has_turn = false;
      station.turns.pop_front();
      continue;
    }
    station.sending = end.queued.front();
    Frame& frame = frames_[station.sending];
    const double bytes = end.window ? station.burst : wire_bytes(frame, end.peer);
    const auto takes = static_cast<TimeUs>(std::ceil(bytes / station.link.up * 1e6));
    if (end.window) end.window->sent(station.burst);
    frame.begun = true;
    station.transmitting = true;
    station.sent.bytes += bytes;
    if (!frame.block) station.sent.control += bytes;
    station.sent.busy_us += static_cast<double>(takes);
    post(takes, kDeparted, station.peer, key);
  }
}

void Links::departed(Station& station, core::PeerKey key) {
  station.transmitting = false;
  End& end = end_of(key);
  station.turns.pop_front();
  end.has_turn = false;
  if (!end.gone && !end.queued.empty()) {
    sent_frame(station, key);
    if (!end.queued.empty() && !std::exchange(end.has_turn, true)) station.turns.push_back(key);
    close_if_done(key);
  }
  transmit(station);
  user_.uplink_went_on(station.peer);
}

// The frame under way, or a burst of it, is on its path.
void Links::sent_frame(Station& station, core::PeerKey key) {
  End& end = end_of(key);
  const Slot slot = station.sending;
  Frame& frame = frames_[slot];
  const std::uint32_t to = end_of(key ^ 1).peer;
  if (end.window) {
    frame.unsent -= station.burst;
    post(path_of(key), kBurst, to, pair(slot, station.burst));
  } else {
    frame.unsent = 0;
    post(path_of(key), kArrived, to, slot);
  }
  if (frame.unsent > 0) return;
  end.queued.erase(std::find(end.queued.begin(), end.queued.end(), slot));
  if (frame.block && !std::exchange(frame.told, true)) {
    ++station.sent.blocks;
    user_.block_left(station.peer, key, frame.bytes);
  }
}

void Links::delivered(Slot slot) {
  Frame& frame = frames_[slot];
  const core::PeerKey key = frame.from ^ 1;
  End& end = end_of(key);
  if (hears(end)) user_.message_came(end.peer, key, std::move(frame.message), frame.bytes);
  release(slot);
}

// --- downlinks with a limit: frames go in bursts, of which some may be lost (downlink.h) ---

// A burst is at the downlink's buffer.
void Links::burst_came(Station& station, Slot slot, std::uint32_t bytes) {
  Frame& frame = frames_[slot];
  const core::PeerKey key = frame.from;
  End& end = end_of(key ^ 1);
  if (!hears(end)) return;
  if (!std::exchange(frame.arriving, true)) end.arriving.push_back(slot);
  const std::uint32_t sender = end_of(key).peer;
  const auto came_over = static_cast<TimeUs>(bytes / stations_[sender].link.up * 1e6);
  const Downlink::Taken taken = station.downlink.take(bytes, came_over, queue_.now());
  if (taken.bytes > 0) post(taken.through, kThrough, station.peer, pair(slot, taken.bytes));
  if (taken.bytes < bytes) {
    post(taken.through + path_of(key), kLost, sender, pair(slot, bytes - taken.bytes));
  }
}

// It is through. A frame whose last byte is here is delivered after those sent before it.
void Links::burst_through(Slot slot, std::uint32_t bytes) {
  Frame& frame = frames_[slot];
  const core::PeerKey key = frame.from;
  End& end = end_of(key ^ 1);
  if (end.gone) return;
  frame.missing -= bytes;
  post(path_of(key), kAcknowledged, end_of(key).peer, pair(key, bytes));
  while (!end.arriving.empty() && frames_[end.arriving.front()].missing == 0) {
    const Slot first = end.arriving.front();
    end.arriving.erase(end.arriving.begin());
    delivered(first);
  }
}

void Links::acknowledged(core::PeerKey key, std::uint32_t bytes) {
  End& end = end_of(key);
  if (end.gone) return;
  end.window->acknowledged(bytes);
  take_turn(key);
  close_if_done(key);
}

// What was lost goes again, before what has not gone yet.
void Links::lost(Slot slot, std::uint32_t bytes) {
  Frame& frame = frames_[slot];
  End& end = end_of(frame.from);
  if (end.gone) return;
  end.window->lost(bytes);
  if (frame.unsent == 0) end.queued.insert(end.queued.begin(), slot);
  frame.unsent += bytes;
  take_turn(frame.from);
}

// --- ends of connections ---

void Links::close_if_done(core::PeerKey key) {
  const End& end = end_of(key);
  if (end.closing && end.queued.empty() && (!end.window || end.window->idle())) closed(key);
}

void Links::close(core::PeerKey key) {
  end_of(key).closing = true;
  close_if_done(key);
}

// This end has sent all it will: the other end hears of it after what was sent before.
void Links::closed(core::PeerKey key) {
  End& end = end_of(key);
  if (std::exchange(end.gone, true)) return;
  post(path_of(key), kClosing, end_of(key ^ 1).peer, key ^ 1);
}

void Links::other_end_closed(core::PeerKey key) {
  End& end = end_of(key);
  if (std::exchange(end.gone, true)) return;
  release_queued(end);
  user_.connection_closed(end.peer, key);
}

}  // namespace firn::sim
