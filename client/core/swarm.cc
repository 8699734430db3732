// The doors of the swarm core, and the order of a step.
#include "client/core/swarm.h"

#include <algorithm>
#include <utility>

#include "client/core/inbox.h"
#include "client/core/parts.h"

namespace firn::core {

namespace {

Parts& at(Parts& parts, TimeUs now) {
  parts.context.now = now;
  return parts;
}

// As at, where what has happened may let a block go.
Parts& stirred(Parts& parts, TimeUs now) {
  parts.uplink.stir();
  return at(parts, now);
}

// As stirred. Null where generations are no matter: before the start, and once stopped.
Receiving* receiving(Parts& parts, TimeUs now) {
  stirred(parts, now);
  return parts.transfer && !parts.life.stopped() ? &parts.transfer->receiving : nullptr;
}

}  // namespace

SwarmCore::SwarmCore(const ContentId& content_id, Options options, TimeUs now)
    : parts_(std::make_unique<Parts>(content_id, std::move(options), now)) {}

SwarmCore::~SwarmCore() = default;

// --- start ---

bool SwarmCore::started() const {
  return parts_->transfer.has_value();
}

void SwarmCore::start(const Manifest& manifest, const StartState& state, bool finished,
                      TimeUs now) {
  Parts& parts = at(*parts_, now);
  FIRN_CHECK(!parts.transfer && manifest.id == parts.context.content_id);
  parts.life.progress(now);
  parts.serving.set_file(manifest.file_bytes);
  parts.fetch.set_found();
  if (manifest.publisher) parts.context.signer = PublicKey::from_bytes(manifest.publisher->key);
  if (!state.certificate.empty()) parts.context.certificate = state.certificate;
  const auto proven = [](const ResumedRow& row) { return row.standing == Standing::kProven; };
  parts.start(manifest.info, std::ranges::any_of(state.rows, proven));
  Transfer& transfer = *parts.transfer;
  if (!state.wanted.empty()) transfer.generations.want(GenerationSet::of(state.wanted), now);
  for (const std::uint32_t g : transfer.generations.restore(state, now))
    transfer.receiving.start_decode(g);
  const Holdings& holdings = transfer.generations.holdings();
  if (holdings.done() && finished) {
    parts.life.finish();
    parts.life.complete(holdings.whole(), now);
  }
  if (holdings.whole() && finished) {
    transfer.sending.begin_as_source();
    transfer.seeding.begin_as_source();
  }
  for (Neighbour& n : parts.membership.neighbours()) {
    if (!n.contact.greeted()) continue;
    transfer.trust.greeted(n);
    transfer.receiving.apply_verdicts();
    transfer.granting.greet(n);
  }
}

// --- connections ---

void SwarmCore::peer_opened(PeerKey peer, const PeerId& id, const std::string& ip,
                            std::uint16_t port, std::uint64_t attempt, TimeUs now,
                            TimeUs round_trip) {
  Parts& parts = stirred(*parts_, now);
  Neighbour* n = parts.membership.opened(peer, id, ip, port, attempt, started());
  if (!n) return;
  n->grants.set_path(round_trip);
  parts.connections.opened(*n);
  if (!started()) return;
  n->holds.set_shape(parts.transfer->generations.holdings().shape());
  // A side that has the manifest may send as soon as it has this: a round trip earlier than if its
  // Hello were waited for. One without ignores it.
  if (n->contact.outgoing()) parts.transfer->granting.greet(*n);
}

void SwarmCore::connect_failed(std::uint64_t attempt, const Error& error, TimeUs now) {
  Parts& parts = at(*parts_, now);
  if (!parts.life.stopped()) parts.membership.connect_failed(attempt, error);
}

void SwarmCore::peer_closed(PeerKey peer, TimeUs now, const std::string& why) {
  stirred(*parts_, now).membership.closed(peer, why);
}

void SwarmCore::peer_broke_protocol(PeerKey peer, const std::string& what, TimeUs now) {
  Membership& membership = stirred(*parts_, now).membership;
  if (const Neighbour* n = membership.find(peer)) {
    membership.punish(n->id, proto::GoodbyeReason::kProtocolError, "broke the protocol", 1,
                      " (" + what + ")");
  }
}

void SwarmCore::message(PeerKey peer, proto::PeerMessage message, std::size_t frame_bytes,
                        TimeUs now) {
  Parts& parts = stirred(*parts_, now);
  Neighbour* n = parts.membership.find(peer);
  if (n) Inbox(parts).take(*n, std::move(message), frame_bytes);
}

void SwarmCore::blocks_departed(PeerKey peer, std::uint32_t blocks, std::size_t bytes, TimeUs now) {
  Parts& parts = stirred(*parts_, now);
  parts.uplink.blocks_departed(blocks, bytes, now);
  Neighbour* n = parts.membership.find(peer);
  if (n && started()) parts.transfer->sending.departed(*n, blocks, bytes);
}

void SwarmCore::manifest_part_departed(PeerKey peer, TimeUs now) {
  Parts& parts = at(*parts_, now);
  if (!parts.life.stopped()) parts.serving.part_departed(peer);
}

// --- coding and disk ---

void SwarmCore::row_stored(TimeUs now) {
  Parts& parts = at(*parts_, now);
  if (!parts.life.stopped()) parts.pressure.row_stored();
}

void SwarmCore::generation_decoded(std::uint32_t generation, DecodeOutcome outcome, TimeUs now) {
  if (Receiving* r = receiving(*parts_, now)) r->decoded(generation, outcome);
}

void SwarmCore::origin_open(bool open, TimeUs now) {
  if (receiving(*parts_, now)) parts_->transfer->origins.open(open);
}

void SwarmCore::origins_lack(const GenerationSet& lacking, TimeUs now) {
  if (receiving(*parts_, now)) parts_->transfer->origins.lack(lacking);
}

void SwarmCore::generation_fetched(std::uint32_t generation, bool verified, TimeUs now) {
  if (receiving(*parts_, now)) parts_->transfer->origins.fetched(generation, verified);
}

void SwarmCore::rows_judged(std::uint32_t generation, const std::vector<std::uint32_t>& right,
                            const std::vector<std::uint32_t>& wrong, bool readable, TimeUs now) {
  Receiving* r = receiving(*parts_, now);
  if (!r) return;
  parts_->transfer->trust.rows_judged(generation, right, wrong, readable);
  r->apply_verdicts();
}

void SwarmCore::proof_made(PeerKey peer, std::variant<proto::CheckReply, proto::LeafReply> reply,
                           TimeUs now) {
  Parts& parts = at(*parts_, now);
  if (!parts.transfer || parts.life.stopped()) return;
  parts.transfer->trust.proof_made(peer, std::move(reply));
  parts.transfer->receiving.apply_verdicts();
}

void SwarmCore::generation_lost(std::uint32_t generation, const Error& error, bool fetch_again,
                                TimeUs now) {
  Receiving* r = receiving(*parts_, now);
  if (!r) return;
  r->generation_lost(generation, error, fetch_again);
  parts_->transfer->sending.holdings_changed();
}

void SwarmCore::generation_regained(std::uint32_t generation, TimeUs now) {
  Receiving* r = receiving(*parts_, now);
  if (!r) return;
  r->generation_regained(generation);
  parts_->transfer->sending.holdings_changed();
}

bool SwarmCore::content_finished(TimeUs now) {
  Parts& parts = stirred(*parts_, now);
  if (!parts.life.finishing()) return false;
  parts.life.complete(parts.transfer->generations.holdings().whole(), now);
  if (parts.life.whole()) parts.trackers.completed();
  return true;
}

void SwarmCore::want(const std::vector<bool>& wanted, TimeUs now) {
  Parts& parts = stirred(*parts_, now);
  if (!parts.transfer || parts.life.stopped()) return;
  parts.life.go_on();
  parts.life.progress(now);
  parts.membership.call_all_again();
  parts.transfer->receiving.want(GenerationSet::of(wanted));
}

void SwarmCore::hurry(Urgent urgent, TimeUs now) {
  if (Receiving* const to = receiving(*parts_, now)) to->hurry(std::move(urgent));
}

void SwarmCore::set_limits(std::uint64_t up, std::uint64_t down, TimeUs now) {
  Parts& parts = stirred(*parts_, now);
  parts.uplink.set_limit(up, now);
  parts.downlink.set_limit(down, now);
}

void SwarmCore::store_paused(const Error& error, TimeUs now) {
  Parts& parts = stirred(*parts_, now);
  parts.pressure.pause(error.message());
  if (parts.life.stopped()) return;
  const bool full = error.code == ErrorCode::kDiskFull;
  if (full && parts.transfer && parts.transfer->receiving.make_room(error)) return;
  if (parts.pressure.tell()) parts.outbox.warn("download paused: " + error.message());
}

void SwarmCore::store_resumed(TimeUs now) {
  Parts& parts = stirred(*parts_, now);
  const bool told = parts.pressure.resume();
  if (told && !parts.life.stopped()) parts.outbox.inform("download goes on");
  parts.life.progress(now);  // what waited for the disk moves on
}

// --- trackers ---

void SwarmCore::peers_named(const std::vector<proto::PeerEndpoint>& peers, TimeUs now) {
  Parts& parts = at(*parts_, now);
  if (!parts.life.stopped()) parts.membership.heard_of(peers, "driver");
}

void SwarmCore::tracker_replied(std::size_t tracker, const proto::AnnounceReply& reply,
                                TimeUs now) {
  Parts& parts = at(*parts_, now);
  if (parts.life.stopped()) return;
  parts.trackers.replied(tracker, reply);
  parts.membership.heard_of(reply.peers, std::to_string(tracker));
  if (reply.has_manifest) parts.fetch.offered_by(tracker);
}

void SwarmCore::tracker_failed(std::size_t tracker, const Error& error, std::uint32_t retry_seconds,
                               TimeUs now) {
  at(*parts_, now).trackers.failed(tracker, error, retry_seconds);
}

void SwarmCore::manifest_read(PeerKey peer, std::size_t tracker, Result<std::string> file_bytes,
                              TimeUs now) {
  ManifestFetch& fetch = at(*parts_, now).fetch;
  if (parts_->life.stopped()) return;
  if (peer == kNoPeer) {
    fetch.tracker_answered(tracker, file_bytes);
  } else {
    fetch.neighbour_read(peer, file_bytes);
  }
}

// --- time ---

void SwarmCore::wake(TimeUs now) {
  Parts& parts = at(*parts_, now);
  if (parts.transfer) parts.transfer->sending.wake();
}

// Everything that may have become due. Runs once per batch of inputs.
void SwarmCore::step() {
  Parts& parts = *parts_;
  for (Part* part : parts.order) {
    if (parts.life.stopped()) return;
    part->step();
  }
  parts.uplink.rest(parts.context.now);
  parts.downlink.rest(parts.context.now);
}

TimeUs SwarmCore::next_wake() const {
  const Parts& parts = *parts_;
  if (parts.life.stopped()) return kNever;
  TimeUs at = kNever;
  for (Part* part : parts.order) at = std::min(at, part->next_due());
  return std::max(at, parts.context.now);
}

void SwarmCore::stop(TimeUs now) {
  Parts& parts = at(*parts_, now);
  parts.transfer ? parts.transfer->seeding.leave() : parts.membership.stop();
}

std::vector<Action> SwarmCore::take_actions() {
  step();
  return parts_->outbox.take();
}

// --- figures ---

Report SwarmCore::report(ReportOn on) const {
  return report_of(*parts_, on);
}

Counters SwarmCore::counters() const {
  return counters_of(*parts_);
}

bool SwarmCore::wants(std::uint32_t generation) const {
  return parts_->transfer && parts_->transfer->generations.holdings().wants(generation);
}

Standstill SwarmCore::standstill() const {
  return standstill_of(*parts_);
}

SwarmView SwarmCore::view() const {
  return view_of(*parts_);
}

std::vector<PeerStatus> SwarmCore::peers() const {
  return peers_of(*parts_);
}

}  // namespace firn::core
