#include "tests/sim/lab/lab.h"

#include <algorithm>
#include <utility>

#include "proto/base/digest.h"
#include "proto/base/result.h"
#include "proto/base/signature.h"
#include "proto/content/authority.h"
#include "tests/sim/lab/lab_events.h"

namespace firn::sim {

namespace {

constexpr TimeUs kDelayMin = 200;  // the windows of virtual time are as long as the shortest path
constexpr TimeUs kDecodeTime = 2000;
constexpr TimeUs kFinishTime = 1000;
constexpr TimeUs kConnectTimeout = 10 * core::kSecond;  // of proto/transport

std::span<const std::uint8_t> authority_secret() {
  static const std::vector<std::uint8_t> secret(kSigningKeyBytes, 7);
  return secret;
}

}  // namespace

Lab::Lab(std::uint32_t generations, std::uint32_t n, std::uint32_t k, std::uint64_t seed,
         Authority authority)
    : authority_(authority),
      shape_{n, k, std::uint64_t{generations} * n * k},
      blocks_in_content_(std::uint64_t{generations} * n),
      trace_(seed),
      random_(seed, 0x6c6162),
      payload_(proto::Payload::allocate(k)),
      false_payload_(proto::Payload::allocate(k)),
      links_(queue_, *this),
      delivered_(shape_) {
  std::ranges::fill(payload_.writable(), std::uint8_t{0});
  std::ranges::fill(false_payload_.writable(), std::uint8_t{1});
  leaf_ = merkle_leaf(payload_.bytes());
  manifest_.info.generation_digests.assign(generations, merkle_root(std::vector(n, leaf_)));
  random_.fill(manifest_.id.bytes);
  manifest_.info.shape = shape_;
  manifest_.info.files.resize(1);
  manifest_.info.files[0].bytes = shape_.content_bytes;
  if (authority != Authority::kNone)
    manifest_.info.authority_key = public_key_of(authority_secret()).value();
}

const LabPeerSpec& Lab::spec(std::size_t peer) const {
  return peers_[peer]->spec;
}

double Lab::content_bytes() const {
  return static_cast<double>(shape_.content_bytes);
}

LabPeerResult Lab::result(std::size_t index) const {
  const Peer& peer = *peers_[index];
  LabPeerResult r = peer.result;
  const Links::Traffic& sent = links_.sent(peer.index);
  r.bytes_sent = sent.bytes;
  r.control_bytes = sent.control;
  r.busy_us = sent.busy_us;
  r.blocks_sent = sent.blocks;
  r.rows_max = peer.store.rows_max();
  if (peer.web) {
    r.bytes_sent = peer.web->bytes_sent();
    r.blocks_sent = static_cast<std::uint64_t>(r.bytes_sent / shape_.block_bytes);
  }
  if (peer.viewer) r.viewing = Viewer(*peer.viewer).result(queue_.now());
  if (peer.core) {
    const core::Counters counters = peer.core->counters();
    r.innovative = counters.blocks_innovative;
    r.redundant = counters.blocks_redundant;
    r.neighbours = counters.neighbours;
    const auto honest = [this](const PeerId& id) {
      return std::any_of(peers_.begin(), peers_.end(), [&id](const std::unique_ptr<Peer>& other) {
        return other->id == id && !other->spec.hostile();
      });
    };
    for (const core::Ban& ban : peer.core->view().bans) r.honest_banned += honest(ban.id);
  }
  return r;
}

core::Report Lab::report(std::size_t peer) const {
  return peers_[peer]->core->report();
}

std::size_t Lab::add(const LabPeerSpec& spec) {
  auto peer = std::make_unique<Peer>();
  peer->index = static_cast<std::uint32_t>(peers_.size());
  peer->spec = spec;
  peer->spec.link.delay = std::max(spec.link.delay, kDelayMin);
  links_.add(peer->spec.link);
  shortest_delay_ = std::min(shortest_delay_, peer->spec.link.delay);
  peer->take_name(random_);
  if (!spec.source && !spec.hostile()) ++left_;
  if (spec.origin) {
    peer->web.emplace(spec.link.up, static_cast<double>(shape_.generation_bytes()));
    origin_ = peer.get();
    if (spec.dies != kNever)
      post(spec.dies, kDies, *peer, static_cast<std::uint64_t>(spec.back_after));
  }
  post(spec.joins, kStart, *peer, 0);
  if (spec.crashes != kNever) post(spec.crashes, kCrash, *peer, 0);
  if (spec.changes_mind != kNever) post(spec.changes_mind, kChangesMind, *peer, 0);
  peers_.push_back(std::move(peer));
  return peers_.size() - 1;
}

void Lab::post(TimeUs delay, std::uint32_t kind, const Peer& peer, std::uint64_t value) {
  queue_.post({queue_.now() + delay, kind, peer.index, value});
}

bool Lab::run(TimeUs until) {
  if (queue_.taken() == 0) queue_.set_window(shortest_delay_ / 2 * 2);
  TimeUs sample_due = sample_interval_ > 0 ? 0 : kNever;
  while (left_ > 0 && !queue_.empty()) {
    const LabEvent event = queue_.take();
    if (event.time > until) {
      queue_.put_back();
      return false;
    }
    if (queue_.window_start() >= sample_due) {
      take_sample();
      sample_due += sample_interval_;
    }
    handle(event);
  }
  return left_ == 0;
}

void Lab::handle(const LabEvent& event) {
  if (is_of_links(event.kind)) return links_.handle(event);
  Peer& peer = *peers_[event.peer];
  const std::uint64_t attempt = event.value >> 32;
  switch (event.kind) {
    case kStart:
      return start(peer);
    case kCalled:
      return called(peer, attempt, static_cast<std::uint32_t>(event.value));
    default:
      break;
  }
  if (peer.web) return handle_origin(peer, event);
  if (!peer.core) return;
  switch (event.kind) {
    case kFetched:
    case kNotFetched:
      return fetched(peer, static_cast<std::uint32_t>(event.value), event.kind == kFetched);
    case kOriginOpen:
      peer.core->origin_open(event.value != 0, queue_.now());
      return act(peer);
    case kConnected:
      return connected(peer, attempt, static_cast<std::uint32_t>(event.value));
    case kConnectFailed:
      return connect_failed(peer, event.value);
    case kNoTracker:
      peer.core->tracker_failed(0, {ErrorCode::kUnreachable, "announce", "simulated"}, 0,
                                queue_.now());
      return act(peer);
    case kAnnounced:
      return announced(peer, event.value);
    case kDecoded:
      return decoded(peer, static_cast<std::uint32_t>(event.value));
    case kFinished:
      peer.core->content_finished(queue_.now());
      return act(peer);
    case kWoken:
      return act(peer);
    case kChangesMind:
      peer.core->want(generations_of(peer.spec.wants_later), queue_.now());
      return act(peer);
    case kSeeks:
      peer.viewer->seek(queue_.now());
      return watch_on(peer);
    case kWake:
      if (peer.armed != static_cast<TimeUs>(event.value)) return;  // a nearer one has run since
      peer.armed = kNever;
      peer.core->wake(queue_.now());
      return act(peer);
    case kRenamed:  // it begins anew
      die(peer, true);
      links_.rejoin(peer.index);
      peer.take_name(random_);
      peer.store = {};
      peer.armed = kNever;
      return start(peer);
    default:
      return die(peer, event.kind == kCrash);
  }
}

// --- lives ---

void Lab::start(Peer& peer) {
  if (peer.web) return;
  core::Options options = options_;
  options.seed = random_.next_u64();
  options.self = peer.id;
  options.listen_port = peer.spec.listens ? static_cast<std::uint16_t>(peer.index + 1) : 0;
  options.agent = "lab";
  options.trackers = {Address{std::nullopt, "tracker", 1}};
  options.seeding = {core::SeedPolicy::Kind::kForever, 0, 0};
  if (peer.spec.leaves_when_safe) options.seeding.kind = core::SeedPolicy::Kind::kWhenSafe;
  if (peer.spec.takes_only) options.up_limit = static_cast<std::uint64_t>(peer.spec.up_limit);
  if (peer.spec.send_limit > 0) options.up_limit = peer.spec.send_limit;
  options.down_limit = peer.spec.receive_limit;
  if (peer.spec.source && authority_ == Authority::kThere) {
    options.certificate = make_certificate(manifest_.id, peer.id, authority_secret()).value();
  }
  if (const hostile::Deeds& deeds = peer.spec.deeds; peer.spec.hostile()) {
    peer.saboteur = std::make_unique<hostile::Saboteur>(deeds, shape_, random_.next_u64());
    for (const auto& other : peers_) {
      if (other->spec.hostile()) peer.saboteur->befriend(other->id.prefix());
    }
    peer.store.believe_all(deeds.colludes);
    if (deeds.renamed > 0) post(deeds.renamed, kRenamed, peer, 0);
  }
  peer.store.set_content(shape_, leaf_);
  peer.core = std::make_unique<core::SwarmCore>(manifest_.id, options, queue_.now());
  core::StartState state;
  if (peer.spec.source) state.verified.assign(shape_.generation_count(), true);
  if (peer.spec.wants.size() < 1) state.wanted = generations_of(peer.spec.wants);
  peer.core->start(manifest_, state, peer.spec.source, queue_.now());
  if (origin_ && queue_.now() >= origin_->gone_until)
    post(peer.spec.origin_from, kOriginOpen, peer, 1);
  if (peer.spec.film.rate > 0) {
    peer.viewer.emplace(manifest_.info, peer.spec.film, queue_.now());
    if (peer.spec.film.seeks != kNever) post(peer.spec.film.seeks, kSeeks, peer, 0);
    return watch_on(peer);
  }
  act(peer);
}

void Lab::watch_on(Peer& peer) {
  core::Urgent urgent = peer.viewer->urgent();
  if (peer.spec.film.hurries && urgent != peer.urgent) {
    peer.urgent = urgent;
    peer.core->hurry(std::move(urgent), queue_.now());
  }
  act(peer);
}

std::vector<bool> Lab::generations_of(const LabPart& part) const {
  const double count = shape_.generation_count();
  std::vector<bool> flags;
  for (double g = 0; g < count; ++g)
    flags.push_back(g + 1 > part.from * count && g < part.to * count);
  return flags;
}

// A peer that crashes says nothing: its neighbours see their connections break. One that leaves
// says goodbye, and what it has queued still goes out.
void Lab::die(Peer& peer, bool crash) {
  if (!peer.core) return;
  peer.result.gone = queue_.now();
  if (peer.result.completed < 0 && !peer.spec.source && !peer.spec.hostile()) --left_;
  tracker_.forget(peer.index);
  if (!crash) {
    peer.core->stop(queue_.now());
    act(peer);
    return;
  }
  const core::Counters counters = peer.core->counters();
  peer.result.innovative = counters.blocks_innovative;
  peer.result.redundant = counters.blocks_redundant;
  peer.core.reset();
  links_.cut(peer.index);
}

void Lab::decoded(Peer& peer, std::uint32_t generation) {
  const bool corrupt = peer.store.any_false(generation);
  if (!corrupt && peer.result.first_generation < 0) peer.result.first_generation = queue_.now();
  peer.result.decoded_falsely += corrupt;
  peer.core->generation_decoded(
      generation, corrupt ? core::DecodeOutcome::kCorrupt : core::DecodeOutcome::kVerified,
      queue_.now());
  if (peer.viewer && !corrupt) {
    peer.viewer->arrived(generation, queue_.now());
    return watch_on(peer);
  }
  act(peer);
}

// --- the driver of one core ---

void Lab::act(Peer& peer) {
  if (peer.acting) return;
  peer.acting = true;
  std::vector<core::Action> actions = peer.core->take_actions();
  trace_.step(queue_.now(), peer.index, actions);
  for (core::Action& action : actions) perform(peer, std::move(action));
  peer.acting = false;
  const TimeUs wake = peer.core->next_wake();
  if (wake == kNever || wake >= peer.armed) return;
  peer.armed = wake;
  post(std::max<TimeUs>(wake - queue_.now(), 1), kWake, peer, static_cast<std::uint64_t>(wake));
}

void Lab::perform(Peer& peer, core::Action&& action) {
  using namespace core;
  if (peer.store.perform(action, *peer.core, queue_.now())) return post(1, kWoken, peer, 0);
  if (auto* send = std::get_if<SendBlock>(&action)) {
    const bool is_false = peer.store.any_false(send->block.generation, send->slots);
    peer.result.false_sent += is_false;
    send->block.payload = is_false ? false_payload_ : payload_;
    if (peer.saboteur) peer.saboteur->sends(send->block, queue_.now());
    links_.send(send->peer, std::move(send->block));
  } else if (auto* send = std::get_if<Send>(&action)) {
    auto* state = std::get_if<proto::State>(&send->message);
    if (peer.saboteur && state) peer.saboteur->says(*state);
    auto* sums = std::get_if<proto::CheckReply>(&send->message);
    if (peer.saboteur && sums) peer.saboteur->says(send->peer, *sums);
    links_.send(send->peer, std::move(send->message));
  } else if (const auto* decode = std::get_if<Decode>(&action)) {
    post(kDecodeTime, kDecoded, peer, decode->generation);
  } else if (const auto* run = std::get_if<FetchFromOrigin>(&action)) {
    peer.asking.push_back(*run);
    const TimeUs path = links_.path_between(peer.index, origin_->index);
    post(path, kAsked, *origin_, peer.index);
  } else if (const auto* connect = std::get_if<Connect>(&action)) {
    call(peer, *connect);
  } else if (const auto* gone = std::get_if<Close>(&action)) {
    links_.close(gone->peer);
  } else if (std::holds_alternative<AnnounceTo>(action)) {
    const proto::Announce& announce = std::get<AnnounceTo>(action).announce;
    if (!tracker_.answers(queue_.now())) {
      post(2 * peer.spec.link.delay, kNoTracker, peer, 0);
    } else if (announce.event != proto::AnnounceEvent::kStopped) {
      post(2 * peer.spec.link.delay, kAnnounced, peer, announce.peers_wanted);
    }
  } else if (std::holds_alternative<Finished>(action) && peer.spec.source) {
    peer.result.gone = source_left_ = queue_.now();
  } else if (std::holds_alternative<ContentComplete>(action)) {
    if (peer.spec.changes_mind != kNever && queue_.now() < peer.spec.changes_mind)
      return post(kFinishTime, kFinished, peer, 0);
    peer.result.completed = queue_.now();
    if (!peer.spec.hostile()) --left_;
    if (peer.spec.leaves_after != kNever) post(peer.spec.leaves_after, kLeave, peer, 0);
    post(kFinishTime, kFinished, peer, 0);
  }
}

// --- the origin ---

void Lab::from_origin(const Peer& origin, std::uint32_t kind, std::uint32_t peer,
                      std::uint64_t value) {
  post(links_.path_between(origin.index, peer), kind, *peers_[peer], value);
}

void Lab::handle_origin(Peer& origin, const LabEvent& event) {
  const TimeUs now = queue_.now();
  if (event.kind == kAsked) {
    Peer& asker = *peers_[event.value];
    const core::FetchFromOrigin run = asker.asking.front();
    asker.asking.pop_front();
    if (now >= origin.gone_until)
      origin.web->ask(asker.index, run, now);
    else
      for (std::uint32_t i = 0; i < run.count; ++i)
        from_origin(origin, kNotFetched, asker.index, run.first + i);
  } else if (event.kind == kDies) {
    const auto away = static_cast<TimeUs>(event.value);
    origin.gone_until = away == kNever ? kNever : now + away;
    for (const auto& [peer, g] : origin.web->fail(now)) from_origin(origin, kNotFetched, peer, g);
    for (const auto& peer : peers_) {
      if (peer->web) continue;
      from_origin(origin, kOriginOpen, peer->index, 0);
      if (away == kNever) continue;
      post(away + links_.path_between(origin.index, peer->index), kOriginOpen, *peer, 1);
    }
  }
  if (event.kind == kServed && origin.armed == static_cast<TimeUs>(event.value))
    origin.armed = kNever;
  for (const auto& [peer, g] : origin.web->served(now)) from_origin(origin, kFetched, peer, g);
  const TimeUs next = origin.web->next();
  if (next == kNever || next >= origin.armed) return;
  origin.armed = next;
  post(std::max<TimeUs>(next - now, 1), kServed, origin, static_cast<std::uint64_t>(next));
}

void Lab::fetched(Peer& peer, std::uint32_t generation, bool came) {
  if (came && peer.result.first_generation < 0) peer.result.first_generation = queue_.now();
  peer.core->generation_fetched(generation, came, queue_.now());
  if (!peer.viewer || !came) return act(peer);
  peer.viewer->arrived(generation, queue_.now());
  watch_on(peer);
}

// --- meeting ---

void Lab::call(Peer& caller, const core::Connect& action) {
  const std::uint32_t to = action.address.port - 1u;
  FIRN_CHECK(action.attempt < (std::uint64_t{1} << 32));
  const bool moved =
      to < peers_.size() && action.address.id && *action.address.id != peers_[to]->id;
  if (to < peers_.size() && !moved) {
    post(3 * caller.spec.link.delay, kCalled, *peers_[to], pair(action.attempt, caller.index));
  } else {
    post(4 * caller.spec.link.delay, kConnectFailed, caller, action.attempt);
  }
}

// A call takes two round trips (TCP, TLS). The callee is ready first, but for what is on its way.
void Lab::called(Peer& callee, std::uint64_t attempt, std::uint32_t from) {
  Peer& caller = *peers_[from];
  const TimeUs path = links_.path_between(from, callee.index);
  if (!callee.core || !callee.spec.listens) return post(path, kConnectFailed, caller, attempt);
  if (callee.spec.firewalled) return post(kConnectTimeout, kConnectFailed, caller, attempt);
  const core::PeerKey key = links_.connect(from, callee.index);
  post(path, kConnected, caller, pair(attempt, static_cast<std::uint32_t>(key)));
  callee.core->peer_opened(key + 1, caller.id, caller.ip(), 0, 0, queue_.now(), 2 * path);
  act(callee);
}

void Lab::connected(Peer& caller, std::uint64_t attempt, core::PeerKey key) {
  if (links_.gone(key)) return connect_failed(caller, attempt);
  const std::uint32_t to = links_.peer_at(key ^ 1);
  caller.core->peer_opened(key, peers_[to]->id, peers_[to]->ip(),
                           static_cast<std::uint16_t>(to + 1), attempt, queue_.now(),
                           2 * links_.path_between(caller.index, to));
  act(caller);
}

void Lab::connect_failed(Peer& caller, std::uint64_t attempt) {
  caller.core->connect_failed(attempt, {ErrorCode::kUnreachable, "connect", "simulated"},
                              queue_.now());
  act(caller);
}

void Lab::announced(Peer& asker, std::uint64_t wanted) {
  const proto::AnnounceReply reply = tracker_.announced(
      asker.index, asker.id, asker.spec.listens ? asker.ip() : "", wanted, random_);
  asker.core->tracker_replied(0, reply, queue_.now());
  act(asker);
}

// --- what links do ---

void Lab::message_came(std::uint32_t peer, core::PeerKey key, proto::PeerMessage&& message,
                       std::size_t bytes) {
  const auto* block = std::get_if<proto::Block>(&message);
  if (block && honest_copies_ > 0 && !peers_[peer]->spec.hostile()) {
    const bool from_source = peers_[links_.peer_at(key ^ 1)]->spec.source;
    if (block->payload == payload_) delivered_.count(*block, from_source);
  }
  if (peers_[peer]->saboteur) peers_[peer]->saboteur->hears(key, message);
  peers_[peer]->core->message(key, std::move(message), bytes, queue_.now());
  act(*peers_[peer]);
}

void Lab::block_left(std::uint32_t peer, core::PeerKey key, std::size_t bytes) {
  peers_[peer]->core->blocks_departed(key, 1, bytes, queue_.now());
}

void Lab::uplink_went_on(std::uint32_t index) {
  Peer& peer = *peers_[index];
  act(peer);
  if (!peer.spec.source || source_left_ >= 0) return;
  const bool sent_enough =
      source_copies_ > 0 && static_cast<double>(links_.sent(index).blocks) >=
                                source_copies_ * static_cast<double>(blocks_in_content_);
  if (sent_enough || (honest_copies_ > 0 && delivered_.reaches(honest_copies_))) {
    source_left_ = queue_.now();
    die(peer, true);
  }
}

void Lab::connection_closed(std::uint32_t peer, core::PeerKey key) {
  peers_[peer]->core->peer_closed(key, queue_.now());
  act(*peers_[peer]);
}

void Lab::take_sample() {
  Sample sample{static_cast<double>(queue_.window_start()) * 1e-6, 0, 1};
  double peers = 0;
  for (const auto& peer : peers_) {
    if (peer->spec.source || !peer->core) continue;
    const double share =
        static_cast<double>(peer->core->counters().rank) / static_cast<double>(blocks_in_content_);
    sample.mean += share;
    sample.least = std::min(sample.least, share);
    ++peers;
  }
  if (peers > 0) sample.mean /= peers;
  samples_.push_back(sample);
}

}  // namespace firn::sim
