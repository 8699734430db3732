// The doors of the swarm core; what happens behind them is in swarm_*.cc.
#include "client/core/swarm.h"

#include <algorithm>
#include <utility>

#include "client/core/swarm_impl.h"

namespace firn::core {

SwarmCore::Impl::Impl(const ContentId& id, Options given, TimeUs at)
    : content_id(id),
      options(std::move(given)),
      now(at),
      started_at(at),
      book(options.self),
      announcer(options.trackers.size(), at),
      fetch(id),
      relay(options.seed),
      coding_random(options.seed, 0x636f646573),
      null_random(options.seed, 0x6e756c6c73),
      up(options.up_limit, options.up_budget, at),
      down(options.down_limit, options.down_budget, at),
      progressed_at(at),
      rotated_at(at),
      stall_checked_at(at),
      exchanged_at(at),
      told_news_at(at + policy::kExchangeFirst - policy::kExchangeInterval / 2),
      reviewed_at(at) {
  for (const Address& address : options.peers) book.add(address, true, at);
}

SwarmCore::SwarmCore(const ContentId& content_id, Options options, TimeUs now)
    : impl_(std::make_unique<Impl>(content_id, std::move(options), now)) {}

SwarmCore::~SwarmCore() = default;

bool SwarmCore::started() const {
  return impl_->holdings.has_value();
}

void SwarmCore::start(const Manifest& manifest, const StartState& state, bool finished,
                      TimeUs now) {
  Impl& impl = *impl_;
  FIRN_CHECK(!impl.holdings && manifest.id == impl.content_id);
  impl.now = impl.progressed_at = now;
  impl.pump_due = true;
  impl.manifest_file = manifest.file_bytes;
  impl.manifest_found = true;
  Holdings& holdings = impl.holdings.emplace(manifest.info.shape);
  const std::uint64_t generation_bytes = manifest.info.shape.generation_bytes();
  impl.rescue =
      Rescue(std::max<std::uint64_t>(impl.options.memory_bytes / 4 / generation_bytes, 1));
  for (std::uint32_t g = 0; g < state.verified.size() && g < holdings.generation_count(); ++g) {
    if (state.verified[g]) holdings.set_verified(g);
  }
  for (const ResumedRow& row : state.rows) {
    if (row.generation >= holdings.generation_count() ||
        row.vector.size() != holdings.blocks_in(row.generation)) {
      continue;
    }
    const auto vector = std::make_shared<const std::vector<std::uint8_t>>(row.vector);
    if (!holdings.restore(row.generation, row.slot, vector, row.sender)) continue;
    if (holdings.rank(row.generation) == holdings.blocks_in(row.generation)) {
      impl.start_decode(row.generation);
    }
  }
  if (holdings.complete() && finished) {
    impl.store_finishing = impl.complete = true;
    impl.completed_at = now;
    impl.source.emplace(holdings.shape(), impl.options.dense);
    if (impl.options.seeding.kind == SeedPolicy::Kind::kWhenSafe) {
      impl.departure.emplace(holdings.shape());
    }
  }
  for (Neighbour& n : impl.neighbours) {
    n.holds.set_shape(holdings.shape());
    if (n.contact.greeted()) impl.send_initial_state(n);
  }
}

void SwarmCore::peer_opened(PeerKey peer, const PeerId& id, const std::string& ip,
                            std::uint16_t port, std::uint64_t attempt, TimeUs now) {
  impl_->now = now;
  impl_->pump_due = true;
  impl_->peer_opened(peer, id, ip, port, attempt);
}

void SwarmCore::connect_failed(std::uint64_t attempt, const Error& error, TimeUs now) {
  impl_->now = now;
  if (impl_->stopped) return;
  const bool wrong_identity = error.code == ErrorCode::kWrongIdentity;
  if (const std::string who = impl_->book.describe_once(attempt); !who.empty()) {
    impl_->notice(Notice::Kind::kWarning,
                  "peer " + who + ": " + error.message() + "; trying again from time to time");
  }
  impl_->book.failed(attempt, wrong_identity, now,
                     error.detail.empty() ? error.message() : error.detail);
}

void SwarmCore::peer_closed(PeerKey peer, TimeUs now, const std::string& why) {
  impl_->now = now;
  impl_->pump_due = true;
  impl_->peer_closed(peer, why);
}

void SwarmCore::peer_broke_protocol(PeerKey peer, const std::string& what, TimeUs now) {
  impl_->now = now;
  impl_->pump_due = true;
  if (const Neighbour* n = impl_->find(peer)) {
    impl_->punish(n->id, proto::GoodbyeReason::kProtocolError, "broke the protocol (" + what + ")");
  }
}

void SwarmCore::message(PeerKey peer, proto::PeerMessage message, std::size_t frame_bytes,
                        TimeUs now) {
  impl_->now = now;
  impl_->pump_due = true;
  impl_->message(peer, std::move(message), frame_bytes);
}

void SwarmCore::block_departed(PeerKey peer, std::size_t frame_bytes, TimeUs now) {
  impl_->now = now;
  impl_->pump_due = true;
  impl_->bytes_sent += frame_bytes;
  if (frame_bytes > 0) {
    ++impl_->blocks_sent;
    impl_->sent_rate.add(1, now);
  }
  impl_->uplink.sent(frame_bytes, now);
  if (Neighbour* n = impl_->find(peer)) {
    n->traffic.sent(frame_bytes, now);
    const std::uint32_t number = n->block_departed(frame_bytes, now);
    if (impl_->departure && frame_bytes == 0) impl_->departure->failed(peer, number);
  }
}

void SwarmCore::manifest_part_departed(PeerKey peer, TimeUs now) {
  impl_->now = now;
  if (!impl_->stopped) impl_->manifest_part_departed(peer);
}

void SwarmCore::row_stored(std::uint32_t, std::uint32_t, TimeUs now) {
  impl_->now = now;
  if (!impl_->stopped) impl_->row_left_memory();
}

void SwarmCore::generation_decoded(std::uint32_t generation, DecodeOutcome outcome, TimeUs now) {
  impl_->now = now;
  impl_->pump_due = true;
  if (!impl_->stopped) impl_->generation_decoded(generation, outcome);
}

void SwarmCore::evidence_checked(std::uint32_t generation, const std::vector<PeerId>& guilty,
                                 TimeUs now) {
  impl_->now = now;
  impl_->pump_due = true;
  if (!impl_->stopped) impl_->evidence_checked(generation, guilty);
}

void SwarmCore::content_finished(TimeUs now) {
  impl_->now = now;
  impl_->pump_due = true;
  impl_->complete = true;
  impl_->completed_at = now;
  impl_->announcer.completed(now);
}

void SwarmCore::store_paused(const Error& error, TimeUs now) {
  impl_->now = now;
  impl_->pump_due = true;
  if (!impl_->paused && !impl_->stopped) {
    impl_->notice(Notice::Kind::kWarning, "download paused: " + error.message());
  }
  impl_->paused = true;
  impl_->store_error = error.message();
}

void SwarmCore::store_resumed(TimeUs now) {
  impl_->now = now;
  impl_->pump_due = true;
  if (impl_->paused && !impl_->stopped) {
    impl_->notice(Notice::Kind::kInfo, "download goes on");
  }
  impl_->paused = false;
  impl_->store_error.clear();
  impl_->progressed_at = now;  // what waited for the disk moves on
}

void SwarmCore::generation_lost(std::uint32_t generation, const Error& error, bool fetch_again,
                                TimeUs now) {
  impl_->now = now;
  impl_->pump_due = true;
  if (!impl_->holdings || impl_->stopped) return;
  if (!impl_->holdings->verified().contains(generation)) return;
  impl_->notice(Notice::Kind::kWarning,
                "generation " + std::to_string(generation) +
                    (fetch_again ? " is fetched again: " : " is not served any more: ") +
                    error.message());
  if (fetch_again && !impl_->complete) impl_->store_finishing = false;  // that has to wait
  impl_->lose(generation);
  if (fetch_again) return;
  impl_->holdings->give_up(generation);
  for (Neighbour& n : impl_->neighbours) {
    if (n.news.begun()) n.news.report_withdrawn(generation);
  }
}

void SwarmCore::generation_regained(std::uint32_t generation, TimeUs now) {
  impl_->now = now;
  impl_->pump_due = true;
  if (!impl_->holdings || impl_->stopped) return;
  if (!impl_->holdings->given_up().contains(generation)) return;
  impl_->notice(Notice::Kind::kInfo,
                "generation " + std::to_string(generation) + " is served again");
  impl_->complete_now(generation);
}

void SwarmCore::tracker_replied(std::size_t tracker, const proto::AnnounceReply& reply,
                                TimeUs now) {
  Impl& impl = *impl_;
  impl.now = now;
  if (impl.stopped) return;
  impl.announcer.replied(tracker, reply.interval_seconds, now);
  impl.tracked_peers[tracker] = reply.complete_count + reply.incomplete_count;
  for (const proto::PeerEndpoint& endpoint : reply.peers) {
    impl.book.add(endpoint, now, PeerBook::Origin::kTracker);
  }
  if (!impl.holdings && !impl.manifest_found && reply.has_manifest && !impl.tracker_fetch_busy) {
    impl.tracker_fetch_busy = true;
    impl.actions.push_back(FetchManifestFrom{tracker});
  }
}

void SwarmCore::tracker_failed(std::size_t tracker, const Error& error, std::uint32_t retry_seconds,
                               TimeUs now) {
  impl_->now = now;
  const std::string& why = error.detail.empty() ? error.message() : error.detail;
  if (impl_->announcer.failed(tracker, retry_seconds, now, why) && !impl_->stopped) {
    impl_->notice(Notice::Kind::kWarning, "tracker " + to_text(impl_->options.trackers[tracker]) +
                                              ": " + error.message() +
                                              "; trying again from time to time");
  }
}

void SwarmCore::tracker_manifest(std::size_t tracker, Result<std::string> file_bytes, TimeUs now) {
  Impl& impl = *impl_;
  impl.now = now;
  impl.tracker_fetch_busy = false;
  if (impl.holdings || impl.manifest_found || impl.stopped) return;
  auto manifest = file_bytes.ok() ? impl.fetch.read(*file_bytes) : file_bytes.error();
  if (manifest.ok()) return impl.manifest_arrived(*std::move(manifest));
  impl.notice(Notice::Kind::kWarning, "manifest from tracker " +
                                          to_text(impl.options.trackers[tracker]) + ": " +
                                          manifest.error().message());
}

void SwarmCore::wake(TimeUs now) {
  impl_->now = now;
  // Time alone lets a block go where the rate was limited or a socket is stuck.
  impl_->pump_due |= !impl_->up.unlimited();
  for (const Neighbour& n : impl_->neighbours) impl_->pump_due |= n.pipe.stuck(now);
}

TimeUs SwarmCore::next_wake() const {
  return impl_->next_wake();
}

void SwarmCore::stop(TimeUs now) {
  impl_->now = now;
  impl_->stop();
}

std::vector<Action> SwarmCore::take_actions() {
  impl_->step();
  return std::exchange(impl_->actions, {});
}

Report SwarmCore::report() const {
  return impl_->report();
}

TimeUs SwarmCore::progressed_at() const {
  return impl_->progressed_at;
}

Standstill SwarmCore::standstill() const {
  return impl_->standstill();
}

std::vector<PeerStatus> SwarmCore::peers() const {
  std::vector<PeerStatus> all;
  for (const Neighbour& n : impl_->neighbours) all.push_back(impl_->status_of(n));
  return all;
}

Counters SwarmCore::counters() const {
  return {impl_->holdings ? impl_->holdings->total_rank() : 0, impl_->blocks_innovative,
          impl_->blocks_redundant, impl_->blocks_sent,
          static_cast<std::uint32_t>(impl_->neighbours.size())};
}

}  // namespace firn::core
