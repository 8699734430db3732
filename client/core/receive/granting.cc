#include "client/core/receive/granting.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "client/core/base/constants.h"
#include "proto/base/limits.h"

namespace firn::core {

// States to all neighbours together take this part of the uplink, but where credit must be renewed:
// on slow uplinks and among many neighbours they come less often, down to kStateIntervalMax. In
// large meshes what others tell is worth more. Half and double stay within noise [096].
constexpr double kStateShare = 1.0 / 80;
constexpr double kStateShareLarge = 1.0 / 40;
constexpr TimeUs kStateGrain = 10 * kMillisecond;  // slow ones are due at multiples of this
constexpr TimeUs kKeepAlive = 45 * kSecond;        // a State without news: the line still stands
constexpr std::size_t kRidingEntries = 512;        // spans, and ranks, in a State aboard a block
// Null vectors that a peer sends to a source in each kReportInterval. Half: +4 % at 40 peers [096].
constexpr std::size_t kSpreadVectors = 4;

Granting::Granting(const MeshPart& mesh, const StorePressure& pressure, Links links,
                   Generations& generations, const QuotaTurns& turns, trust::Trust& trust)
    : MeshPart(mesh),
      pressure_(pressure),
      links_(links),
      generations_(generations),
      turns_(turns),
      trust_(trust),
      random_(context_.options.seed, 0x6c61636b73) {}

// --- how much may be granted ---

// In blocks.
std::uint64_t Granting::memory_room() const {
  const std::uint64_t k = std::max<std::uint64_t>(holdings().shape().block_bytes, 1);
  return std::max<std::uint64_t>(context_.options.memory_bytes / 8 * 3 / k, 8);
}

// Rows wait in memory until they are spooled or decoded; grants stop before they fill it.
policy::GrantLimits Granting::limits() {
  policy::GrantLimits limits;
  limits.paused = pressure_.paused() || life_.stopped() || life_.finishing();
  const std::uint64_t room = memory_room();
  limits.promised = promised();
  const std::uint64_t promised = pressure_.rows_in_memory() + limits.promised;
  limits.blocks_max = promised < room ? room - promised : 0;
  limits.blocks_max = std::min(limits.blocks_max, links_.down.blocks_allowed(context_.now));
  return limits;
}

// Among polluters neighbours count as useful that otherwise do not (Neighbour::useful).
std::uint64_t Granting::promised() {
  if (holdings().missing() == 0) return 0;  // nothing more is granted
  if (amid_polluters_ == trust_.terms().convicted.empty()) {
    amid_polluters_ = !amid_polluters_;
    for (const Neighbour& n : std::as_const(membership_).neighbours()) came(n);
  }
  return promises_.sum(context_.now);
}

// Where nothing limits the rate but memory, nothing can be granted because of what waits in it.
bool Granting::store_behind() {
  return links_.down.unlimited() && pressure_.rows_in_memory() > 0 && !holdings().done() &&
         limits().blocks_max == 0;
}

bool Granting::can_grant(const Neighbour& n) {
  return n.grants.outstanding() <= n.grants.window().blocks / 2 &&
         policy::blocks_to_grant(holdings(), n, limits()) > 0;
}

std::optional<WhyNot> Granting::why_none_from(const Neighbour& n) const {
  if (life_.complete() || holdings().missing() == 0) return WhyNot::kWantsNothing;
  if (!n.holds.heard()) return WhyNot::kNotHeard;
  if (is_suspended(n.regard())) return WhyNot::kSuspended;
  if (pressure_.paused()) return WhyNot::kDiskPaused;
  const GenerationSet& settled = holdings().settled();
  std::uint32_t g = settled.next_missing(0);
  while (g < settled.size() && n.holds.rank(g) == 0) g = settled.next_missing(g + 1);
  if (g >= settled.size()) return WhyNot::kNothingHeld;
  if (n.grants.stalled(context_.now)) return WhyNot::kOwesBlocks;
  if (n.grants.outstanding() > 0) return std::nullopt;
  if (links_.down.held_up()) return WhyNot::kRateLimit;
  return pressure_.rows_in_memory() >= memory_room() ? WhyNot::kMemoryFull : WhyNot::kNoCredit;
}

// --- when a State is due ---

// What makes it due earlier touches the neighbour's news, or those of all (review_bounds); until
// then it can only become later, as rates fall.
TimeUs Granting::due(Neighbour& n) {
  if (!n.untold.begun()) return kNever;
  if (n.untold.due() <= context_.now) n.untold.set_due(work_out_due(n));
  return n.untold.due();
}

TimeUs Granting::work_out_due(const Neighbour& n) {
  const TimeUs last = n.untold.last_state();
  const bool grants = can_grant(n);
  if (!grants && !n.untold.pending()) return last + kKeepAlive;
  const double share = membership_.small_mesh() ? kStateShare : kStateShareLarge;
  const TimeUs interval = policy::state_interval(generations_, membership_.neighbours(), n, grants,
                                                 holdings().shape().block_bytes,
                                                 share * links_.up.seen(), context_.now);
  TimeUs due = last + interval;
  // Those that can wait a little go together: one step for all.
  if (interval >= policy::kStateIntervalEnd) {
    due = (due + kStateGrain - 1) / kStateGrain * kStateGrain;
  }
  if (!grants || links_.down.unlimited()) return due;
  // What the down limit earns beyond the brim of its bucket is lost, so it is granted before.
  return std::min(
      due, std::max(links_.down.half_full_at(context_.now), last + policy::kStateIntervalMin));
}

// Where what bounds all grants has changed, States may be due at other times.
void Granting::review_bounds() {
  const policy::GrantLimits now = limits();
  const std::uint64_t missing = holdings().missing();
  const Bounds bounds{!now.paused && missing > 0 && now.blocks_max > 0,
                      policy::kPromisedTimes * missing > now.promised,
                      policy::near_end(generations_, membership_.neighbours())};
  if (bounds == bounds_) return;
  bounds_ = bounds;
  for (Neighbour& n : membership_.neighbours()) n.untold.touch();
}

void Granting::step() {
  review_bounds();
  for (const PeerKey key : membership_.neighbours().states().take_due(context_.now)) {
    Neighbour* n = membership_.find(key);
    if (n && due(*n) <= context_.now) outbox_.send(*n, make_state(*n, limits::kStateEntriesMax));
  }
}

void Granting::tell_completion() {
  if (!life_.complete()) return;
  for (Neighbour& n : membership_.neighbours())
    if (n.untold.begun() && n.untold.complete_pending())
      outbox_.send(n, make_state(n, limits::kStateEntriesMax));
}

TimeUs Granting::next_due() {
  Agenda& states = membership_.neighbours().states();
  for (const PeerKey key : states.take_due(context_.now)) {
    if (Neighbour* n = membership_.find(key)) due(*n);
  }
  TimeUs at = states.first([this](const Agenda::Entry& entry) {
    const Neighbour* n = membership_.find(entry.second);
    return n && n->untold.due() == entry.first;
  });
  if (membership_.neighbours().empty() || life_.complete() || holdings().done()) return at;
  return pressure_.paused() ? at : std::min(at, links_.down.next_due(context_.now));
}

// --- States ---

void Granting::told(Neighbour& n) {
  const bool shares = n.holds.shares_interest(holdings().settled(), holdings().verified());
  membership_.neighbours().note_stranger(n, !shares && !life_.complete());
  if (n.holds.has_everything()) {
    sources_.insert(n.key);
  } else {
    sources_.erase(n.key);
  }
}

void Granting::greet(Neighbour& n) {
  look_anew();
  // A neighbour that is not told of generations unwanted, or waiting for memory, would send them.
  std::vector<std::uint32_t> changed(generations_.waiting().begin(), generations_.waiting().end());
  for (const auto& [g, open] : holdings().open()) changed.push_back(g);
  for (const auto& [g, urgency] : generations_.urgent())
    if (holdings().wants(g)) changed.push_back(g);
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  n.untold.begin(holdings().verified().members(), generations_.unwanted(),
                 holdings().given_up().members(), std::move(changed));
  outbox_.send(n, make_state(n, limits::kStateEntriesMax));
}

std::optional<proto::State> Granting::riding_state(Neighbour& n) {
  if (!n.untold.begun() || (!n.untold.pending() && !can_grant(n))) return std::nullopt;
  return make_state(n, kRidingEntries);
}

void Granting::grant(Neighbour& n) {
  const std::size_t connections = membership_.neighbours().size();
  const std::uint32_t k = holdings().shape().block_bytes;
  const auto share = context_.options.memory_bytes / 8 / k / std::max<std::size_t>(connections, 1);
  const auto window_max =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(share, policy::kWindowMax));
  n.grants.resize(policy::next_window(n.grants, links_.up.queue_time(), connections == 1, k,
                                      window_max, context_.now));
  const std::uint32_t give = policy::blocks_to_grant(holdings(), n, limits());
  if (give == 0) return;
  if (n.grants.stalled(context_.now)) look_anew();  // and does not from now on
  n.grants.grant(give, context_.now);
  promises_.update(n, context_.now);
  links_.down.granted(give);
}

// At most `entries_max` spans and as many ranks; what is left goes with the next.
proto::State Granting::make_state(Neighbour& n, std::size_t entries_max) {
  const Neighbours& neighbours = membership_.neighbours();
  proto::State state;
  grant(n);
  if (n.holds.has_everything()) state.upload_kib = links_.up.kib_per_second();
  state.neighbours = n.untold.take_connections(static_cast<std::uint32_t>(neighbours.size()));
  state.acknowledged = n.untold.take_acknowledgement();
  state.credit = n.grants.credit();
  state.prefer_coded = sources_.size() > 1;
  const trust::Terms terms = trust_.terms();
  state.proven_only = terms.proven_only && !life_.finishing();
  state.trusted_only = terms.trusted_only && !life_.finishing();
  state.fetching = generations_.fetching();
  state.epoch = context_.epoch;
  if (!life_.finishing() && n.holds.has_everything() && n.untold.report_due(context_.now))
    membership_.small_mesh() ? tell_received(n, terms, state) : tell_convicted(n, terms, state);
  tell_generations(n, terms, entries_max, state);
  n.untold.told(context_.now);
  return state;
}

// Tells a source how many innovative blocks came from each neighbour: it gives its rows to peers
// that pass them on. A neighbour that mostly repeats itself does not, though a block of it is new
// now and then.
void Granting::tell_received(Neighbour& n, const trust::Terms& terms, proto::State& state) {
  for (const Neighbour& other : std::as_const(membership_).neighbours()) {
    if (state.received.size() == limits::kReceivedMax) break;
    const std::uint64_t blocks = other.traffic.blocks_innovative();
    if (other.key == n.key || blocks == 0 || !other.useful()) continue;
    if (terms.trusted_only && on_trial(other.regard())) continue;
    state.received.push_back({other.id.prefix(), static_cast<std::uint32_t>(blocks)});
  }
}

// And which peers sent false blocks: in a large mesh most neighbours of the source do not know each
// other, but a polluter is soon known to many. By null vectors the source finds out which of its
// rows have come through to us (spread.h).
void Granting::tell_convicted(Neighbour& n, const trust::Terms& terms, proto::State& state) {
  state.convicted = terms.convicted;
  const auto& open = holdings().open();
  auto it = open.upper_bound(told_lacking_);
  std::size_t told = 0;
  for (std::size_t looked = 0; looked < std::min<std::size_t>(open.size(), kScanMax);
       ++looked, ++it) {
    if (it == open.end()) it = open.begin();
    if (it->second.decoding || it->second.basis.full()) continue;
    n.untold.attach_null_vector(it->first, it->second.basis.random_null_vector(random_));
    told_lacking_ = it->first;
    if (++told == kSpreadVectors) break;
  }
}

// Where blocks that are asked of one neighbour are asked of no other there need be no shares.
void Granting::tell_plain(const Neighbour& n, trust::Asks&& asks, proto::GenerationState& entry) {
  const std::uint32_t g = entry.generation;
  entry.wanted_blocks = std::move(asks.wanted);
  entry.held_blocks = std::move(asks.held);
  if (entry.held_blocks.empty()) return;
  if (is_suspended(n.regard()) || holdings().decoding(g)) return;
  if (!generations_.invites(g, context_.now)) return;
  std::uint32_t wanted = 0;
  for (const std::uint8_t bits : entry.wanted_blocks)
    wanted += static_cast<std::uint32_t>(std::popcount(bits));
  entry.quota = std::min(wanted, n.grants.window().blocks);
}

void Granting::tell_generations(Neighbour& n, const trust::Terms& terms, std::size_t entries_max,
                                proto::State& state) {
  const std::size_t spans_max = std::min(entries_max, limits::kStateSpansMax);
  state.complete = n.untold.take_complete(spans_max);
  state.withdrawn = n.untold.take_withdrawn((spans_max - state.complete.size()) / 2);
  state.unwanted =
      n.untold.take_unwanted(spans_max - state.complete.size() - state.withdrawn.size());

  // Where false rows are about that nobody can find out one by one.
  const bool sifted = (!terms.convicted.empty() || terms.trusted_only) && !terms.proven_only &&
                      membership_.neighbours().size() <= kFewToLookAt;
  policy::Shares shares{turns_.turn(), sifted};
  const std::vector<std::uint32_t> changed = n.untold.take_changed(entries_max);
  state.generations.reserve(changed.size());
  for (const std::uint32_t g : changed) {
    proto::GenerationState& entry = state.generations.emplace_back();
    entry.generation = g;
    entry.rank = holdings().rank(g);
    entry.urgency = generations_.urgency(g);
    shares.anybody = entry.urgency == proto::kAwaited;
    // Nobody holds rows that could be shared of what is read and not open yet.
    const bool afresh = entry.urgency > 0 && entry.rank == 0;
    entry.quota = !generations_.invites(g, context_.now) ? 0
                  : afresh                               ? n.grants.window().blocks
                           : policy::quota_of(holdings(), membership_.neighbours(), n, g, shares,
                                              holders_, context_.now);
    entry.null_vector = n.untold.take_null_vector(g);
    trust::Asks asks = trust_.asks(n, g);
    if (asks.nothing) entry.quota = 0;
    if (asks.tell_all) membership_.neighbours().report(g);
    if (!asks.wanted.empty()) tell_plain(n, std::move(asks), entry);
  }
}

}  // namespace firn::core
