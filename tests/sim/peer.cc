#include "tests/sim/peer.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/base/signature.h"
#include "tests/sim/network.h"

namespace firn::sim {

namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

Peer::Peer(Network& network, std::size_t index, const PeerSpec& spec)
    : disk(*this, network.content(), network.random(), spec),
      network_(network),
      index_(index),
      spec_(spec),
      uplink_(*this, network) {
  if (spec.source || spec.lies) disk.fill(spec.lies);
}

void Peer::start() {
  ++life_;
  std::array<std::uint8_t, kSigningKeyBytes> secret;
  network_.random().fill(secret);
  id_ = peer_id_of(*PublicKey::from_bytes(*public_key_of(secret)));
  ids.push_back(id_);
  core::Options options;
  options.seed = network_.random().next_u64();
  options.self = id_;
  options.listen_port = spec_.listens ? static_cast<std::uint16_t>(index_ + 1) : 0;
  options.agent = "sim";
  options.peer_exchange = spec_.peer_exchange;
  if (spec_.tracker) options.trackers.push_back({std::nullopt, "tracker", 1});
  for (const std::size_t other : spec_.knows) {
    options.peers.push_back(
        {std::nullopt, address_of(other), static_cast<std::uint16_t>(other + 1)});
  }
  options.seeding = spec_.seeding;
  options.dense = spec_.dense;
  options.up_limit = spec_.up_limit;
  options.down_limit = spec_.down_limit;
  options.memory_bytes = spec_.memory_bytes;
  if (spec_.source && spec_.speaks && (!spec_.hostile() || spec_.false_sums)) {
    options.certificate = network_.content().certificate_of(id_);
  }
  core_ = std::make_unique<core::SwarmCore>(network_.content().manifest.id, options, now());
  checker_ = std::make_unique<Checker>(network_.content().manifest.info.shape, disk, !complete(),
                                       spec_.memory_bytes, [this](const std::string& rule) {
                                         if (!spec_.hostile()) network_.note(index_, rule);
                                       });
  if (!spec_.deeds.none()) corrupt();
  // The manifest is on disk as soon as anything of the content is.
  if (!spec_.link_only || !disk.verified.empty() || !disk.rows.empty()) begin();
  act();
}

// All that do such things are friends.
void Peer::corrupt() {
  saboteur_ = std::make_unique<hostile::Saboteur>(
      spec_.deeds, network_.content().manifest.info.shape, network_.random().next_u64());
  saboteur_->befriend(id_.prefix());
  for (std::size_t i = 0; i < network_.size(); ++i) {
    const Peer& other = network_.peer(i);
    if (&other != this && other.saboteur_) saboteur_->befriend(other.id_.prefix());
  }
  if (spec_.deeds.renamed == 0) return;
  later(spec_.deeds.renamed, [this] {
    network_.crash(index_);
    network_.restart(index_);
  });
}

void Peer::begin() {
  core::StartState state;
  state.verified.resize(network_.content().manifest.info.shape.generation_count());
  for (const auto& [g, bytes] : disk.verified) state.verified[g] = true;
  for (const auto& [at, row] : disk.rows) {
    state.rows.push_back({at.first, at.second, row.vector, row.sender, row.standing});
  }
  core_->start(network_.content().manifest, state, complete(), now());
  if (spec_.origin > 0) core_->origin_open(true, now());
}

void Peer::stop_dead() {
  ++life_;
  core_.reset();
  uplink_.crashed();
  disk.crashed();
  armed_ = kNever;
  acting_ = false;
  thaws_ = 0;
  waiting_.clear();
}

TimeUs Peer::clock() const {
  return network_.events().now() + clock_ahead_;
}

TimeUs Peer::now() {
  return told_ = clock();
}

bool Peer::working() const {
  return core_ && !finished_ && !disk.paused() && thaws_ <= network_.events().now();
}

bool Peer::answers_calls() const {
  return core_ && !finished_ && spec_.listens && thaws_ <= network_.events().now();
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

void Peer::read(core::Urgent urgent) {
  if (!core_) return;
  later(1, [this, urgent = std::move(urgent)] {
    core_->hurry(urgent, now());
    act();
  });
}

void Peer::freeze(TimeUs how_long) {
  if (!core_) return;
  thaws_ = std::max(thaws_, network_.events().now() + how_long);
  // What is due meanwhile happens then, in order, all at once, unless another freeze has begun.
  network_.events().after(thaws_ - network_.events().now(), [this, life = life_] {
    if (life != life_ || thaws_ > network_.events().now()) return;
    std::deque<std::function<void()>> due;
    due.swap(waiting_);
    for (auto& what : due) {
      if (life == life_ && core_) what();
    }
  });
}

void Peer::later(TimeUs delay, std::function<void()> what) {
  later_in_life(delay, [this, what = std::move(what)] {
    if (!finished_) what();
  });
}

void Peer::later_in_life(TimeUs delay, std::function<void()> what) {
  network_.events().after(delay, [this, life = life_, what = std::move(what)]() mutable {
    if (life != life_ || !core_) return;
    if (thaws_ > network_.events().now() || !waiting_.empty()) {
      waiting_.push_back(std::move(what));
    } else {
      what();
    }
  });
}

void Peer::hear(core::PeerKey key, proto::PeerMessage message, std::size_t bytes) {
  checker_->heard(key, message, core_->started());
  if (saboteur_) saboteur_->hears(key, message);
  core_->message(key, std::move(message), bytes, now());
  act();
}

void Peer::lost(core::PeerKey key) {
  uplink_.lost(key);
  if (!core_ || finished_) return;
  checker_->closed(key);
  core_->peer_closed(key, now());
  act();
}

void Peer::act() {
  if (acting_ || !core_) return;
  acting_ = true;
  std::vector<core::Action> actions = core_->take_actions();
  network_.trace(index_, actions);
  for (core::Action& action : actions) {
    checker_->does(action);
    perform(std::move(action));
  }
  acting_ = false;
  if (!finished_ && core_) arm();
}

void Peer::arm() {
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

// Of a key that judges without fail: Disk::judge looks at the truth, and true sums are zeros.
// For a neighbour: sums of the right size, or leaves. A peer that lies has noise on its disk.
void Peer::make_proof(const std::variant<core::MakeCheck, core::MakeLeaves>& wanted) {
  using Reply = std::variant<proto::CheckReply, proto::LeafReply>;
  const auto made = [this](const auto& action) -> std::pair<core::PeerKey, Reply> {
    const std::uint32_t g = action.generation;
    if constexpr (std::is_same_v<std::decay_t<decltype(action)>, core::MakeLeaves>) {
      return {action.peer, proto::LeafReply{g, disk.leaves(g)}};
    } else {
      const std::uint32_t blocks = network_.content().manifest.info.shape.blocks_in(g);
      std::vector<std::uint8_t> key(action.key.begin(), action.key.end());
      key.resize(limits::kCheckKeyBytes);
      const bool lies = spec_.false_sums && action.peer != core::kNoPeer;
      return {action.peer,
              proto::CheckReply{g, std::move(key),
                                std::vector<std::uint8_t>(action.tag_bytes * blocks, lies)}};
    }
  };
  later(1000, [this, reply = std::visit(made, wanted)] {
    core_->proof_made(reply.first, reply.second, now());
    act();
  });
}

void Peer::perform(core::Action&& action) {
  using namespace core;
  std::visit(Overloaded{
                 [this](Connect& a) { network_.connect(index_, a.attempt, a.address); },
                 [this](Close& a) { uplink_.close(a.peer); },
                 [this](Send& a) {
                   auto* state = std::get_if<proto::State>(&a.message);
                   if (saboteur_ && state) saboteur_->says(*state);
                   auto* sums = std::get_if<proto::CheckReply>(&a.message);
                   if (saboteur_ && sums) saboteur_->says(a.peer, *sums);
                   const std::size_t bytes = proto::wire_bytes(a.message);
                   uplink_.enqueue(a.peer, {std::move(a.message), bytes, false});
                 },
                 [this](StoreRow& a) { disk.store(a); },
                 [this](MarkProven& a) { disk.mark(a); },
                 [this](DoubtRows&) { disk.doubt_rows(); },
                 [this](Decode& a) { disk.decode(a); },
                 [this](DropRows& a) { disk.drop(a.generation); },
                 [this](DropSlots& a) { disk.drop(a); },
                 [this](JudgeRows& a) { disk.judge(a); },
                 [this](MakeCheck& a) { make_proof(a); },
                 [this](MakeLeaves& a) { make_proof(a); },
                 [this](AnnounceTo& a) { network_.announce(index_, a.tracker, a.announce); },
                 [this](KeepManifestPart& a) {
                   const auto whole = staged_.keep(a);
                   if (!whole) return;
                   const ContentId& content = network_.content().manifest.id;
                   later(1000, [this, peer = a.peer, file = test::proven(*whole, content)] {
                     core_->manifest_read(peer, 0, file, now());
                     act();
                   });
                 },
                 [this](Finished&) { finished_ = true; },
                 [this](Notice& a) {
                   if (a.kind == Notice::Kind::kWarning) warnings.push_back(a.text);
                 },
                 [this](auto& a) { on(a); },
             },
             action);
}

void Peer::on(core::SendBlock& action) {
  proto::Block block = std::move(action.block);
  action.block = {};
  action.block.generation = block.generation;
  action.block.source_index = block.source_index;
  action.block.coefficients = block.coefficients;
  block.payload = disk.payload_of(action);
  if (saboteur_) saboteur_->sends(block, network_.events().now());
  const std::size_t real = block.payload.size();
  const std::size_t charged = network_.content().charged_block_bytes;
  Uplink::Frame frame{std::move(block), 0, true};
  frame.bytes = proto::wire_bytes(frame.message) - real + charged;
  if (spec_.worker_delay == 0) return uplink_.enqueue(action.peer, std::move(frame));
  const auto made = std::make_shared<Uplink::Frame>(std::move(frame));
  later(spec_.worker_delay,
        [this, key = action.peer, made] { uplink_.enqueue(key, std::move(*made)); });
}

void Peer::on(const core::FetchManifestFrom& action) {
  later(4 * spec_.link.delay, [this, tracker = action.tracker] {
    if (network_.tracker_hosts_manifest()) {
      core_->manifest_read(core::kNoPeer, tracker, network_.content().manifest.file_bytes, now());
    } else {
      core_->manifest_read(core::kNoPeer, tracker,
                           Error{ErrorCode::kUnreachable, "fetch", "simulated"}, now());
    }
    act();
  });
}

void Peer::fetched(std::uint32_t generation, bool verified) {
  core_->generation_fetched(generation, verified, now());
  act();
}

void Peer::on(const core::FetchFromOrigin& action) {
  if (spec_.origin == 0) network_.note(index_, "a fetch from an origin where there is none");
  asked_of_origin += action.count;
  for (std::uint32_t i = 0; i < action.count; ++i) {
    const bool fails = network_.random().below(1000) < spec_.origin_fails * 1000;
    later(spec_.origin * (i + 1),
          [this, fails, g = action.first + i] { fails ? fetched(g, false) : disk.keep(g); });
  }
}

void Peer::on(const core::ManifestArrived& action) {
  const Manifest& manifest = network_.content().manifest;
  if (action.manifest.file_bytes != manifest.file_bytes) network_.note(index_, "a false manifest");
  later(1000, [this] {
    begin();
    act();
  });
}

void Peer::on(const core::ContentComplete&) {
  completed_at = network_.events().now();
  later(1000, [this] {
    core_->content_finished(now());
    act();
  });
}

}  // namespace firn::sim
