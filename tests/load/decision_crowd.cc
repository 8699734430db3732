#include "tests/load/decision_crowd.h"

#include <algorithm>
#include <string>
#include <variant>

namespace firn::load {

using core::PeerKey;
using core::TimeUs;

namespace {

constexpr std::size_t kBlockFrame = 4200;  // bytes, about

Manifest manifest_of(const Diet& diet) {
  Manifest manifest;
  manifest.id.bytes[0] = 0xc0;
  manifest.info.name = "content";
  manifest.info.shape = {diet.generation_size, diet.block_bytes,
                         std::uint64_t{diet.generations} * diet.generation_size * diet.block_bytes};
  return manifest;
}

core::Options options_for(std::size_t receivers) {
  core::Options options;
  options.self.bytes[31] = 1;
  options.seeding.kind = core::SeedPolicy::Kind::kForever;
  options.peer_exchange = false;
  options.neighbours_max = static_cast<std::uint32_t>(receivers);
  return options;
}

PeerId id_of(PeerKey peer) {
  PeerId id;
  for (int i = 0; i < 4; ++i) id.bytes[i] = static_cast<std::uint8_t>(peer >> (8 * i));
  return id;
}

}  // namespace

DecisionCrowd::DecisionCrowd(std::size_t receivers, const Diet& diet)
    : diet_(diet),
      manifest_(manifest_of(diet)),
      core_(manifest_.id, options_for(receivers), now_),
      receivers_(receivers) {
  core::StartState state;
  state.verified.assign(manifest_.info.shape.generation_count(), true);
  core_.start(manifest_, state, !diet.finished_download, now_);
  perform();
}

proto::State DecisionCrowd::state_of(Receiver& r) const {
  proto::State state;
  state.acknowledged = r.arrived;
  state.credit = r.credit;
  for (const std::uint32_t g : r.touched) {
    if (r.ranks[g] >= diet_.generation_size) {
      state.complete.push_back({g, 1});
    } else {
      state.generations.push_back({g, r.ranks[g], 0, {}, {}});
      state.generations.back().quota = diet_.window;
    }
  }
  r.touched.clear();
  return state;
}

void DecisionCrowd::join() {
  for (PeerKey peer = 1; peer <= receivers_.size(); ++peer) {
    Receiver& r = receivers_[peer - 1];
    r.ranks.assign(diet_.generations, 0);
    r.credit = diet_.window;
    const std::string ip = "10." + std::to_string(peer >> 16) + "." +
                           std::to_string(peer >> 8 & 255) + "." + std::to_string(peer & 255);
    core_.peer_opened(peer, id_of(peer), ip, 4000, 0, now_);
    proto::Hello hello;
    hello.content_id = manifest_.id;
    hello.has_manifest = true;
    core_.message(peer, hello, 100, now_);
    core_.message(peer, state_of(r), 30, now_);
    const auto gap = static_cast<TimeUs>(1e6 / diet_.blocks_a_second);
    due_.emplace(now_ + static_cast<TimeUs>(peer) * gap / static_cast<TimeUs>(receivers_.size()),
                 peer);
    perform();
  }
}

void DecisionCrowd::take_block(PeerKey peer) {
  Receiver& r = receivers_[peer - 1];
  if (r.queue.empty()) return;
  const std::uint32_t g = r.queue.front();
  r.queue.erase(r.queue.begin());
  ++r.arrived;
  ++r.ranks[g];
  if (r.touched.empty() || r.touched.back() != g) r.touched.push_back(g);
  if (r.credit - r.arrived > diet_.window / 2) return;
  r.credit = r.arrived + diet_.window;
  said_.emplace_back(peer, state_of(r));
}

void DecisionCrowd::prepare() {
  now_ += kTurn;
  const auto gap = static_cast<TimeUs>(1e6 / diet_.blocks_a_second);
  while (!resting_ && due_.top().first <= now_) {
    const auto [at, peer] = due_.top();
    due_.pop();
    due_.emplace(at + gap, peer);
    take_block(peer);
  }
}

void DecisionCrowd::turn() {
  for (const PeerKey peer : std::exchange(departed_, {}))
    core_.blocks_departed(peer, 1, kBlockFrame, now_);
  for (auto& [peer, message] : said_) core_.message(peer, std::move(message), 60, now_);
  said_.clear();
  if (core_.next_wake() <= now_) core_.wake(now_);
  perform();
}

void DecisionCrowd::perform() {
  ++steps_;
  for (core::Action& action : core_.take_actions()) {
    if (std::holds_alternative<core::ContentComplete>(action)) core_.content_finished(now_);
    const auto* send = std::get_if<core::SendBlock>(&action);
    if (!send) continue;
    ++blocks_;
    departed_.push_back(send->peer);
    receivers_[send->peer - 1].queue.push_back(send->block.generation);
  }
}

}  // namespace firn::load
