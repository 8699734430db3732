// What time brings: calls, announces, timeouts, stalls, completion, leaving.
#include <algorithm>
#include <utility>

#include "client/core/policy/constants.h"
#include "client/core/swarm_impl.h"

namespace firn::core {

// Everything that may have become due. Runs once per batch of inputs.
void SwarmCore::Impl::step() {
  if (stopped) return;
  if (now >= connections_due) check_connections();
  announce();
  dial();
  if (!holdings) {
    ask_for_manifest();
    return;
  }
  review_rescues();
  refresh_quotas();
  check_stalls();
  if (std::exchange(pump_due, false)) pump();
  send_due_states();
  check_completion();
  up_waits = !up.ready(now);
  down_waits = !down.ready(now);
}

// How long a connection with queued blocks may stand still: even a very slow uplink of ours would
// have carried all that is queued by then.
TimeUs SwarmCore::Impl::stuck_patience() const {
  if (!holdings) return policy::kStuckPatience;
  std::uint64_t blocks = 0;
  for (const Neighbour& n : neighbours) blocks += n.pipe.queued();
  const std::uint64_t seconds = blocks * holdings->shape().block_bytes / policy::kStuckRate;
  return policy::kStuckPatience + static_cast<TimeUs>(seconds) * kSecond;
}

// Runs when it was found to be due, or at once where a connection is new.
void SwarmCore::Impl::check_connections() {
  std::vector<PeerKey> late, stuck, used_up;
  const TimeUs patience = stuck_patience();
  connections_due = now + policy::kStuckPatience;
  const auto due_at = [this](TimeUs at) { connections_due = std::min(connections_due, at); };
  for (const Neighbour& n : neighbours) {
    if (!n.contact.greeted() && now - n.contact.opened_at() >= policy::kHelloTimeout) {
      late.push_back(n.key);
    } else if (n.grants.used_up()) {
      used_up.push_back(n.key);
    } else if (n.pipe.queued() > 0 && now - n.pipe.waiting_since() >= patience) {
      stuck.push_back(n.key);
    } else if (!n.contact.greeted()) {
      due_at(n.contact.opened_at() + policy::kHelloTimeout);
    } else if (n.pipe.queued() > 0) {
      due_at(n.pipe.waiting_since() + patience);
    }
  }
  for (const PeerKey key : late) {
    drop(*find(key), proto::GoodbyeReason::kProtocolError, "no Hello");
  }
  for (const PeerKey key : stuck) {
    drop(*find(key), proto::GoodbyeReason::kUnspecified, "takes no data");
  }
  for (const PeerKey key : used_up) {
    drop(*find(key), proto::GoodbyeReason::kUnspecified, "the credit is used up; connect again");
  }
  exchange_peers();
  due_at(exchange_due(!exchange_news));
  if (now - reviewed_at >= policy::kExchangeInterval) {
    reviewed_at = now;
    replace_neighbour();
  }
  due_at(reviewed_at + policy::kExchangeInterval);
}

// Who accepts no connections can only call others, and hears of those who came after it from us: so
// whoever has called us is told soon. Nobody is told before it listens again (gossip_due), though.
TimeUs SwarmCore::Impl::exchange_due(bool all) const {
  const TimeUs listening = told_news_at + policy::kExchangeInterval / 2;
  return all ? std::max(exchanged_at + policy::kExchangeInterval, listening) : listening;
}

void SwarmCore::Impl::exchange_peers() {
  const bool all = now >= exchange_due(true);
  if (!all && (!exchange_news || now < exchange_due(false))) return;
  for (Neighbour& n : neighbours) {
    if (!n.contact.greeted() || (n.contact.outgoing() && !all)) continue;
    share_peers(n, all ? 0 : extra[n.key].told_peers_at);
  }
  told_news_at = now;
  if (all) exchanged_at = now;
  exchange_news = false;
}

// In a large mesh the neighbours are a choice: one with which no block has moved either way since
// the last review makes room for somebody who may be of more use. One at a time, and only where
// somebody else is known.
void SwarmCore::Impl::replace_neighbour() {
  const bool crowded = !small_mesh() && neighbours.size() >= neighbours_wanted();
  Neighbour* useless = nullptr;
  for (Neighbour& n : neighbours) {
    const std::uint64_t moved = n.grants.blocks_received() + n.pipe.blocks_sent();
    const bool settled =
        now - n.contact.opened_at() >= policy::kExchangeInterval && n.holds.heard();
    if (crowded && settled && moved == extra[n.key].blocks_reviewed) useless = &n;
    extra[n.key].blocks_reviewed = moved;
  }
  if (!useless || !holdings || complete || book.next_due() > now) return;
  drop(*useless, proto::GoodbyeReason::kNotUseful, "nothing moves");
}

// A tracker is asked oftener by who needs it: without neighbours or without the manifest.
bool SwarmCore::Impl::lonely() const {
  return neighbours.empty() || (!holdings && !manifest_found);
}

void SwarmCore::Impl::announce() {
  for (const Announcer::Due& due : announcer.due(lonely(), now)) {
    proto::Announce announce;
    announce.content_id = content_id;
    announce.event = due.event;
    announce.listen_port = options.listen_port;
    announce.complete = complete;
    announce.peers_wanted = policy::kAnnouncePeers;
    actions.push_back(AnnounceTo{due.tracker, announce});
  }
}

// Whether everybody can know everybody: then the rules for full meshes hold. A full house may have
// turned others away, so there it takes a tracker that knows of no more. Of 16 peers that take 12,
// 8, 4 neighbours at most, 32 MiB: by these rules 1.15, 1.40, 1.58, by those for large meshes 1.08,
// 1.35, 1.20 of the bound; of 100 peers with 8 at most 1.23, 1.14.
bool SwarmCore::Impl::small_mesh() const {
  std::size_t others = neighbours.size(), told = 0;
  for (const auto& [tracker, count] : tracked_peers) told = std::max<std::size_t>(told, count);
  const std::size_t places = neighbours_max();
  const bool full_house = others >= places;
  if (told > others) others = told - 1;  // it counts us
  if (others > places || (full_house && told <= places)) return false;
  return std::max(others, told) <= policy::kSmallMesh;
}

std::size_t SwarmCore::Impl::neighbours_wanted() const {
  std::size_t wanted = small_mesh() ? policy::kSmallMesh : policy::kNeighboursWanted;
  if (options.neighbours_wanted > 0) wanted = options.neighbours_wanted;
  return std::min(wanted, neighbours_max());
}

// At first only half of those wanted are called in a large mesh: the others will call us.
bool SwarmCore::Impl::wants_to_dial() const {
  const std::size_t wanted = neighbours_wanted();
  if (book.dialing() >= policy::kDialsAtOnce || neighbours.size() + book.dialing() >= wanted) {
    return false;
  }
  if (small_mesh() || now - started_at >= policy::kMeshTime) return true;
  const auto called = std::count_if(neighbours.begin(), neighbours.end(),
                                    [](const Neighbour& n) { return n.contact.outgoing(); });
  return book.dialing() + static_cast<std::size_t>(called) < (wanted + 1) / 2;
}

std::size_t SwarmCore::Impl::neighbours_max() const {
  if (options.neighbours_max > 0) return options.neighbours_max;
  if (options.neighbours_wanted == 0) return policy::kNeighboursMax;
  return std::size_t{options.neighbours_wanted} * policy::kNeighboursMax /
         policy::kNeighboursWanted;
}

void SwarmCore::Impl::dial() {
  while (wants_to_dial()) {
    const auto next = book.next_dial(now);
    if (!next) return;
    actions.push_back(Connect{next->attempt, next->address});
  }
}

// Where only a few rows of a generation are missing, each neighbour has a lease on some of them.
// These shares go round, and are told again as the neighbours' own ranks grow.
void SwarmCore::Impl::refresh_quotas() {
  const TimeUs interval =
      policy::near_end(*holdings, neighbours) ? policy::kStateIntervalEnd : policy::kStateInterval;
  if (complete || holdings->complete() || neighbours.size() < 2 || now - rotated_at < interval)
    return;
  rotated_at = now;
  ++rotation;
  std::uint32_t looked = 0;
  for (const auto& [g, open] : holdings->open()) {
    if (open.decoding) continue;
    if (++looked > policy::kQuotaRefreshes) break;
    const std::uint32_t missing = holdings->blocks_in(g) - open.rows;
    if (missing < neighbours.size() * policy::kWindowMin) changed(g);
  }
  if (!paused) share_lost_anew();
}

// Shares of lost rows may have gone to those who send nothing, while nothing is open to tell of.
// A few of these generations at a time, in turn; those that nobody has can wait for somebody.
void SwarmCore::Impl::share_lost_anew() {
  std::erase_if(lost, [&](std::uint32_t g) {
    return holdings->rank(g) > 0 || holdings->given_up().contains(g);
  });
  const auto offered = [&](std::uint32_t g) {
    return std::any_of(neighbours.begin(), neighbours.end(),
                       [&](const Neighbour& n) { return n.holds.heard() && n.holds.rank(g) > 0; });
  };
  std::uint32_t told = 0;
  auto g = lost.lower_bound(next_lost);
  for (std::size_t looked = 0; looked < lost.size() && told < policy::kQuotaRefreshes; ++looked) {
    if (g == lost.end()) g = lost.begin();
    if (offered(*g)) {
      changed(*g);
      ++told;
    }
    next_lost = *g++ + 1;
  }
}

// A generation that stands still although its neighbours hold as much as we do: their spans may
// differ from ours. A vector orthogonal to all we hold lets them find out. One generation at a
// time, as each costs n bytes for every neighbour; in turn, as some may be beyond help.
void SwarmCore::Impl::check_stalls() {
  if (complete || holdings->complete() || now - stall_checked_at < policy::kStallTime) return;
  stall_checked_at = now;
  pump_due = true;  // what stands still may go on
  const auto& open = holdings->open();
  auto it = open.upper_bound(stall_looked);
  for (std::size_t looked = 0; looked < std::min<std::size_t>(open.size(), policy::kScanMax);
       ++looked, ++it) {
    if (it == open.end()) it = open.begin();
    const std::uint32_t g = stall_looked = it->first;
    if (!stands_still(g, it->second)) continue;
    const std::vector<std::uint8_t> z = it->second.basis.random_null_vector(null_random);
    for (Neighbour& n : neighbours) {
      if (!n.news.begun() || n.holds.rank(g) == 0) continue;
      n.news.attach_null_vector(g, z);
    }
    return;
  }
}

bool SwarmCore::Impl::stands_still(std::uint32_t g, const OpenGeneration& open) const {
  const TimeUs still = now - open.last_growth;
  if (open.decoding || still < policy::kStallTime) return false;
  bool more = false, some = false;
  for (const Neighbour& n : neighbours) {
    const std::uint32_t rank = n.holds.rank(g);
    some |= rank > 0;
    more |= rank > open.rows;
  }
  // Who claims more will send it, if the claim is true.
  return some && (!more || still >= policy::kStallVoid);
}

void SwarmCore::Impl::review_rescues() {
  if (rescue.empty()) return;
  const auto holders = [this](std::uint32_t g) { return holders_of(g); };
  for (const std::uint32_t g : rescue.review(holders, now)) changed(g);
}

void SwarmCore::Impl::check_completion() {
  if (!complete) {
    if (!holdings->complete()) return;
    if (!store_finishing) {
      store_finishing = true;
      send_due_states();
      actions.push_back(ContentComplete{});
    }
    return;
  }
  std::vector<PeerKey> keys;
  for (const Neighbour& n : neighbours) keys.push_back(n.key);
  for (const PeerKey key : keys) {
    part_if_useless(*find(key));
  }
  if (may_depart()) {
    notice(Notice::Kind::kInfo, "the others hold everything between them; leaving");
    stop();
  } else if (duty_done()) {
    stop();
  }
}

bool SwarmCore::Impl::may_depart() {
  if (!departure || departure_proven) return departure_proven;
  if (now < departure_due) return false;
  departure_due = now + policy::kDepartureInterval;
  return departure->safe(neighbours);
}

bool SwarmCore::Impl::duty_done() const {
  const SeedPolicy& seeding = options.seeding;
  const TimeUs stayed = now - completed_at;
  switch (seeding.kind) {
    case SeedPolicy::Kind::kNone:
      return true;
    case SeedPolicy::Kind::kForever:
    case SeedPolicy::Kind::kWhenSafe:  // may_depart
      return false;
    case SeedPolicy::Kind::kRatio:
      // In whole blocks, so that framing does not take the last one from a neighbour.
      return static_cast<double>(blocks_sent) >=
             seeding.ratio * static_cast<double>(holdings->total_possible());
    case SeedPolicy::Kind::kDuration:
      return stayed >= seeding.duration;
    case SeedPolicy::Kind::kWhileNeeded:
      return stayed >= seeding.duration ||
             std::all_of(neighbours.begin(), neighbours.end(),
                         [](const Neighbour& n) { return n.holds.satisfied(); });
  }
  return true;
}

void SwarmCore::Impl::stop() {
  if (stopped) return;
  while (!neighbours.empty()) {
    drop(*neighbours.begin(), proto::GoodbyeReason::kShuttingDown, "");
  }
  for (const std::size_t tracker : announcer.to_leave()) {
    proto::Announce announce;
    announce.content_id = content_id;
    announce.event = proto::AnnounceEvent::kStopped;
    announce.listen_port = options.listen_port;
    announce.complete = complete;
    announce.peers_wanted = 0;
    actions.push_back(AnnounceTo{tracker, announce});
  }
  stopped = true;
  actions.push_back(Finished{});
}

TimeUs SwarmCore::Impl::next_wake() {
  if (stopped) return kNever;
  TimeUs at = announcer.next_due(lonely());
  if (wants_to_dial()) at = std::min(at, book.next_due());
  if (now - started_at < policy::kMeshTime) at = std::min(at, started_at + policy::kMeshTime);
  if (!neighbours.empty()) at = std::min(at, connections_due);
  // A socket that turns out to be stuck makes way for others.
  for (const Neighbour& n : neighbours) {
    if (!n.pipe.stuck(now)) at = std::min(at, n.pipe.stuck_at());
  }
  if (!holdings) return manifest_found ? at : std::max(std::min(at, fetch.next_review(now)), now);
  at = std::min(at, rescue.next_review());
  for (Neighbour& n : neighbours) at = std::min(at, state_due(n));
  if (!neighbours.empty() && !complete && !holdings->complete()) {
    at = std::min(at, stall_checked_at + policy::kStallTime);
    if (neighbours.size() > 1 && (!holdings->open().empty() || !lost.empty())) {
      const bool end = policy::near_end(*holdings, neighbours);
      at = std::min(at, rotated_at + (end ? policy::kStateIntervalEnd : policy::kStateInterval));
    }
    if (!paused && down_waits) at = std::min(at, down.ready_at(now));
  }
  if (!neighbours.empty() && up_waits) at = std::min(at, up.ready_at(now));
  if (departure && !neighbours.empty()) at = std::min(at, departure_due);
  if (complete && (options.seeding.kind == SeedPolicy::Kind::kDuration ||
                   options.seeding.kind == SeedPolicy::Kind::kWhileNeeded)) {
    const TimeUs left = options.seeding.duration - (now - completed_at);
    if (left < kNever - now) at = std::min(at, now + left);
  }
  return std::max(at, now);
}

Report SwarmCore::Impl::report() const {
  Report r;
  r.peers = static_cast<std::uint32_t>(neighbours.size());
  r.bytes_received = bytes_received;
  r.bytes_sent = bytes_sent;
  r.blocks_innovative = blocks_innovative;
  r.blocks_redundant = blocks_redundant;
  r.blocks_recoded = blocks_recoded;
  r.blocks_sent = blocks_sent;
  r.complete = complete;
  if (holdings) {
    r.bytes_verified = holdings->verified_bytes();
    r.rank = holdings->total_rank();
    r.rank_total = holdings->total_possible();
    r.generations_verified = holdings->verified().count();
  }
  std::map<PeerId, NeighbourReport> all = history;
  for (const Neighbour& n : neighbours) {
    NeighbourReport& entry = all[n.id];
    entry.complete = n.holds.has_everything();
    entry.rank = n.holds.total_rank();
    entry.blocks_received += n.grants.blocks_received();
    entry.blocks_innovative += n.traffic.blocks_innovative();
    entry.blocks_recoded += n.traffic.blocks_recoded();
    entry.blocks_sent += n.pipe.blocks_sent();
  }
  for (auto& [id, entry] : all) r.neighbours.push_back(std::move(entry));
  return r;
}

}  // namespace firn::core
