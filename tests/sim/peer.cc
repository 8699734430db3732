#include <algorithm>
#include <cmath>
#include <utility>

#include "codec/encode.h"
#include "codec/kernels.h"
#include "tests/sim/network.h"

namespace firn::sim {

Peer::Peer(Network& network, std::size_t index, const Network::PeerSpec& spec)
    : network_(network), index_(index), spec_(spec) {
  if (!spec.source && !spec.lies) return;
  for (std::uint32_t g = 0; g < generation_count(); ++g) {
    const auto truth = network_.content().generation(g);
    auto& bytes = disk.verified[g];
    bytes.assign(truth.begin(), truth.end());
    if (spec.lies) network_.random().fill(bytes);
  }
}

std::uint32_t Peer::generation_count() const {
  return network_.content().manifest.info.shape.generation_count();
}

void Peer::start() {
  ++life_;
  network_.random().fill(id_.bytes);
  core::Options options;
  options.seed = network_.random().next_u64();
  options.self = id_;
  options.listen_port = spec_.listens ? static_cast<std::uint16_t>(index_ + 1) : 0;
  options.agent = "sim";
  if (spec_.tracker) options.trackers.push_back({std::nullopt, "tracker", 1});
  for (const std::size_t other : spec_.knows) {
    options.peers.push_back({std::nullopt, kAddress, static_cast<std::uint16_t>(other + 1)});
  }
  options.seeding = spec_.seeding;
  options.dense = spec_.dense;
  options.up_limit = spec_.up_limit;
  options.down_limit = spec_.down_limit;
  options.memory_bytes = spec_.memory_bytes;
  core_ = std::make_unique<core::SwarmCore>(network_.content().manifest.id, options, now());
  const bool source = disk.verified.size() == generation_count();
  checker_ = std::make_unique<Checker>(network_.content().manifest.info.shape, disk, !source,
                                       spec_.memory_bytes, [this](const std::string& rule) {
                                         if (!spec_.hostile()) network_.note(index_, rule);
                                       });
  // The manifest is on disk as soon as anything of the content is.
  if (!spec_.link_only || !disk.verified.empty() || !disk.rows.empty()) begin();
  act();
}

void Peer::begin() {
  core::StartState state;
  state.verified.resize(generation_count());
  for (const auto& [g, bytes] : disk.verified) state.verified[g] = true;
  for (const auto& [at, row] : disk.rows) {
    state.rows.push_back({at.first, at.second, row.vector, row.sender});
  }
  const bool finished = disk.verified.size() == generation_count();
  core_->start(network_.content().manifest, state, finished, now());
}

void Peer::stop_dead() {
  ++life_;
  core_.reset();
  queues_.clear();
  closing_.clear();
  transmitting_ = false;
  armed_ = kNever;
  acting_ = false;
  disk_paused_ = false;
  disk_work_.clear();
  evidence_.clear();
  thaws_ = 0;
}

TimeUs Peer::clock() const {
  return network_.events().now() + clock_ahead_;
}

TimeUs Peer::now() {
  return told_ = clock();
}

bool Peer::working() const {
  return core_ && !finished_ && !disk_paused_ && thaws_ <= network_.events().now();
}

void Peer::jump_clock(TimeUs ahead) {
  clock_ahead_ += ahead;
  if (!core_ || finished_) return;
  // Timers that are due by now fire.
  later(1, [this] {
    core_->wake(now());
    act();
  });
}

void Peer::freeze(TimeUs how_long) {
  if (core_) thaws_ = std::max(thaws_, network_.events().now() + how_long);
}

void Peer::later(TimeUs delay, std::function<void()> what) {
  later_in_life(delay, [this, what = std::move(what)] {
    if (!finished_) what();
  });
}

void Peer::later_in_life(TimeUs delay, std::function<void()> what) {
  network_.events().after(delay, [this, life = life_, what = std::move(what)]() mutable {
    if (life != life_ || !core_) return;
    const TimeUs at = network_.events().now();
    if (thaws_ > at) return later_in_life(thaws_ - at, std::move(what));  // in order, all at once
    what();
  });
}

void Peer::hear(core::PeerKey key, proto::PeerMessage message, std::size_t bytes) {
  checker_->heard(key, message, core_->started());
  core_->message(key, std::move(message), bytes, now());
  act();
}

void Peer::lost(core::PeerKey key) {
  queues_.erase(key);
  std::erase(closing_, key);
  if (!core_ || finished_) return;
  checker_->closed(key);
  core_->peer_closed(key, now());
  act();
}

void Peer::act() {
  if (acting_ || !core_) return;
  acting_ = true;
  std::vector<core::Action> actions = core_->take_actions();
  network_.trace_.step(network_.events().now(), index_, actions);
  for (core::Action& action : actions) {
    checker_->does(action);
    perform(std::move(action));
  }
  acting_ = false;
  if (finished_ || !core_) return;
  const TimeUs wake = core_->next_wake();
  checker_->rested(*core_, told_, wake);
  if (wake == kNever || wake >= armed_) return;
  armed_ = wake;
  later(std::max<TimeUs>(wake - clock(), 1), [this, wake] {
    if (armed_ != wake) return;  // a nearer timer has run since
    armed_ = kNever;
    core_->wake(now());
    act();
  });
}

void Peer::perform(core::Action&& action) {
  std::visit([this](auto& a) { on(a); }, action);
}

void Peer::on(core::Connect& action) {
  network_.connect(index_, action.attempt, action.address);
}

void Peer::on(core::Close& action) {
  const auto queue = queues_.find(action.peer);
  if (queue == queues_.end()) return;
  if (queue->second.empty()) {
    queues_.erase(queue);
    network_.close(index_, action.peer);
  } else {
    closing_.push_back(action.peer);
  }
}

void Peer::on(core::Send& action) {
  const std::size_t bytes = proto::wire_bytes(action.message);
  enqueue(action.peer, {std::move(action.message), bytes, false});
}

void Peer::on(core::SendBlock& action) {
  if (spec_.silent) return;  // it never leaves
  proto::Block block = std::move(action.block);
  action.block = {};
  action.block.generation = block.generation;
  action.block.source_index = block.source_index;
  action.block.coefficients = block.coefficients;
  block.payload = payload_of(action);
  falsify(block);
  const std::size_t real = block.payload.size();
  const std::size_t charged = network_.content().charged_block_bytes;
  Frame frame{std::move(block), 0, true};
  frame.bytes = proto::wire_bytes(frame.message) - real + charged;
  if (spec_.worker_delay == 0) return enqueue(action.peer, std::move(frame));
  const auto made = std::make_shared<Frame>(std::move(frame));
  later(spec_.worker_delay, [this, key = action.peer, made] { enqueue(key, std::move(*made)); });
}

void Peer::falsify(proto::Block& block) {
  if (spec_.pollutes > 0 && network_.random().below(1000) < spec_.pollutes * 1000) {
    block.payload = proto::Payload::copy_of(block.payload.bytes());
    block.payload.writable()[0] ^= 0x5a;
  }
  if (spec_.repeats) {
    block.source_index = 0;
    block.coefficients.clear();
    block.recoded = false;
    block.payload =
        proto::Payload::copy_of(network_.content()
                                    .generation(block.generation)
                                    .first(network_.content().manifest.info.shape.block_bytes));
  }
}

proto::Payload Peer::payload_of(const core::SendBlock& action) {
  const Shape& shape = network_.content().manifest.info.shape;
  std::vector<const std::uint8_t*> rows;
  std::vector<std::uint8_t> mix = action.mix;
  const std::uint32_t g = action.block.generation;
  if (action.slots.empty()) {
    const auto& bytes = disk.verified.at(g);
    for (std::uint32_t i = 0; i < shape.blocks_in(g); ++i) {
      rows.push_back(bytes.data() + std::size_t{i} * shape.block_bytes);
    }
    mix = action.block.source_index
              ? codec::unit_vector(shape.blocks_in(g), *action.block.source_index)
              : action.block.coefficients;
  } else {
    for (const std::uint32_t slot : action.slots) {
      rows.push_back(disk.rows.at({g, slot}).payload.data());
    }
  }
  proto::Payload payload = proto::Payload::allocate(shape.block_bytes);
  codec::kernels().combine(payload.writable().data(), rows.data(), mix.data(), rows.size(),
                           shape.block_bytes);
  return payload;
}

void Peer::enqueue(core::PeerKey key, Frame frame) {
  const auto queue = queues_.find(key);
  if (queue == queues_.end()) return;  // the connection has gone
  queue->second.push_back(std::move(frame));
  transmit();
}

// The uplink: one frame at a time, connections in turn.
void Peer::transmit() {
  if (transmitting_) return;
  auto next = queues_.end();
  for (auto it = queues_.begin(); it != queues_.end(); ++it) {
    if (it->second.empty() || !network_.reads(index_, it->first)) continue;
    if (next == queues_.end() || (it->first > last_served_ && next->first <= last_served_)) {
      next = it;
    }
  }
  if (next == queues_.end()) return;
  transmitting_ = true;
  last_served_ = next->first;
  const auto bytes = static_cast<double>(next->second.front().bytes) * network_.pipe_overhead();
  const auto takes = static_cast<TimeUs>(std::ceil(bytes / spec_.link.up * 1e6));
  later_in_life(takes, [this, key = next->first] {
    transmitting_ = false;
    bool told = false;  // the core hears of some departures alone
    const auto queue = queues_.find(key);
    if (queue != queues_.end() && !queue->second.empty()) {
      Frame frame = std::move(queue->second.front());
      queue->second.pop_front();
      if (frame.block) {
        ++blocks_departed;
        core_->block_departed(key, frame.bytes, now());
        told = true;
      } else if (std::holds_alternative<proto::ManifestPart>(frame.message)) {
        core_->manifest_part_departed(key, now());
        told = true;
      }
      network_.deliver(index_, key, std::move(frame.message), frame.bytes);
      if (queue->second.empty() && std::erase(closing_, key) > 0) {
        queues_.erase(queue);
        network_.close(index_, key);
      }
    }
    transmit();
    if (told) act();
  });
}

}  // namespace firn::sim
