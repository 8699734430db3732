// Blocks and states that leave the swarm core.
#include <algorithm>
#include <utility>

#include "client/core/policy/constants.h"
#include "client/core/swarm_impl.h"
#include "codec/encode.h"
#include "proto/limits.h"

namespace firn::core {

void SwarmCore::Impl::pump() {
  send_manifest_parts();
  if (!holdings || stopped || holdings->total_rank() == 0) return;
  const double rate = sent_rate.bytes_per_second(now);
  const std::uint32_t busy_max =
      source ? policy::kBusyConnectionsSource : policy::busy_connections_max(rate, small_mesh());
  for (Neighbour& n : neighbours) n.pipe.set_patience(policy::uplink_patience(rate, busy_max));
  while (up.ready(now)) {
    const auto choice = source ? source->choose(*holdings, neighbours, busy_max, now)
                               : relay.choose(*holdings, neighbours, small_mesh(), busy_max, now);
    if (!choice) break;
    send_block(*choice);
    if (source) source->served(*choice, now);
  }
  uplink.waiting(policy::busy_connections(neighbours, now) > 0, now);
}

// Draws the coding vector; for an open generation also the mix of rows that makes it. With a null
// vector z the draw is repeated until v.z != 0: then v is outside the receiver's span for certain.
std::vector<std::uint8_t> SwarmCore::Impl::draw_vector(std::uint32_t g,
                                                       const std::vector<std::uint8_t>& null,
                                                       SendBlock& out) {
  const bool whole = holdings->verified().contains(g);
  for (int tries = 1;; ++tries) {
    std::vector<std::uint8_t> vector;
    if (whole) {
      vector = codec::random_vector(holdings->blocks_in(g), coding_random);
    } else {
      Holdings::Mix mix = holdings->recode(g, coding_random);
      out.slots = std::move(mix.slots);
      out.mix = std::move(mix.mix);
      vector = std::move(mix.vector);
    }
    if (null.empty() || tries == policy::kNullVectorTries || codec::dot(vector, null) != 0) {
      return vector;
    }
  }
}

void SwarmCore::Impl::send_block(const policy::Choice& choice) {
  Neighbour& n = neighbours.at(choice.peer);
  const std::uint32_t g = choice.generation;
  SendBlock out;
  out.peer = n.key;
  out.block.generation = g;
  out.block.recoded = !holdings->verified().contains(g);
  if (choice.source_index) {
    out.block.source_index = choice.source_index;
  } else {
    std::vector<std::uint8_t> null;
    if (choice.use_null_vector) null = n.holds.null_vector(g)->z();
    out.block.coefficients = draw_vector(g, null, out);
    out.exchangeable = !out.block.recoded && null.empty();
  }
  out.block.sequence = n.book_block(g, now);
  if (departure) {
    departure->sent(n.key, out.block.sequence, g, choice.source_index, out.block.coefficients);
  }
  if (has_news(n)) out.block.state = make_state(n, policy::kRidingEntries);
  up.take(proto::wire_bytes(out.block) + holdings->shape().block_bytes);
  actions.push_back(std::move(out));
}

// --- states ---

// What it was seen to carry, or what a person allows if that is less; at least 1 once it is known.
std::uint32_t SwarmCore::Impl::upload_kib() const {
  double rate = uplink.bytes_per_second();
  if (!up.unlimited()) {
    const auto limit = static_cast<double>(up.rate());
    rate = rate > 0 ? std::min(rate, limit) : limit;
  }
  if (rate <= 0) return 0;
  return static_cast<std::uint32_t>(std::clamp(rate / 1024, 1.0, 1e9));
}

void SwarmCore::Impl::send_initial_state(Neighbour& n) {
  std::vector<std::uint32_t> complete, withdrawn, changed;
  for (std::uint32_t g = holdings->verified().next_present(0); g < holdings->generation_count();
       g = holdings->verified().next_present(g + 1)) {
    complete.push_back(g);
  }
  for (const auto& [g, open] : holdings->open()) changed.push_back(g);
  for (std::uint32_t g = holdings->given_up().next_present(0); g < holdings->generation_count();
       g = holdings->given_up().next_present(g + 1)) {
    changed.push_back(g);  // for neighbours that ignore what is unwanted, and would send it
    withdrawn.push_back(g);
  }
  std::sort(changed.begin(), changed.end());  // what does not fit now is looked up by number
  n.news.begin(std::move(complete), std::move(withdrawn), std::move(changed));
  send(n, make_state(n, limits::kStateEntriesMax));
}

bool SwarmCore::Impl::can_grant(const Neighbour& n) {
  return n.grants.outstanding() <= n.grants.window().blocks / 2 &&
         policy::blocks_to_grant(*holdings, n, grant_limits()) > 0;
}

bool SwarmCore::Impl::has_news(const Neighbour& n) {
  if (!n.news.begun()) return false;
  return n.news.pending() || can_grant(n);
}

// What makes it due earlier touches the neighbour, or all of them (review_grants); until then it
// can only become later, as rates fall.
TimeUs SwarmCore::Impl::state_due(Neighbour& n) {
  if (!n.news.begun()) return kNever;
  if (n.news.due() <= now) n.news.set_due(work_out_state_due(n));
  return n.news.due();
}

TimeUs SwarmCore::Impl::work_out_state_due(const Neighbour& n) {
  if (!has_news(n)) return n.news.last_state() + policy::kKeepAlive;
  const bool grants = can_grant(n);
  const TimeUs interval =
      policy::state_interval(*holdings, neighbours, n, grants, holdings->shape().block_bytes, now);
  TimeUs due = n.news.last_state() + interval;
  // Those that can wait a little go together: one step for all.
  if (interval >= policy::kStateIntervalEnd) {
    due = (due + policy::kStateGrain - 1) / policy::kStateGrain * policy::kStateGrain;
  }
  if (!grants || down.unlimited()) return due;
  // What the down limit earns beyond the brim of its bucket is lost, so it is granted before.
  return std::min(
      due, std::max(down.half_full_at(now), n.news.last_state() + policy::kStateIntervalMin));
}

// Where what bounds all grants has changed, States may be due at other times.
void SwarmCore::Impl::review_grants() {
  const policy::GrantLimits limits = grant_limits();
  const std::uint64_t missing = holdings->missing();
  const GrantRegime regime{!limits.paused && missing > 0 && limits.blocks_max > 0,
                           missing > limits.promised, policy::near_end(*holdings, neighbours)};
  if (regime == grant_regime) return;
  grant_regime = regime;
  for (Neighbour& n : neighbours) n.news.touch();
}

void SwarmCore::Impl::send_due_states() {
  if (!holdings || stopped) return;
  review_grants();
  for (Neighbour& n : neighbours) {
    if (state_due(n) <= now) send(n, make_state(n, limits::kStateEntriesMax));
  }
}

// At most `entries_max` spans and as many ranks; what is left goes with the next.
proto::State SwarmCore::Impl::make_state(Neighbour& n, std::size_t entries_max) {
  proto::State state;
  const std::uint32_t k = holdings->shape().block_bytes;
  const auto share = options.memory_bytes / 8 / k / std::max<std::size_t>(neighbours.size(), 1);
  n.grants.resize(policy::next_window(
      n.grants, neighbours.size() == 1, k,
      static_cast<std::uint32_t>(std::min<std::uint64_t>(share, policy::kWindowMax)), now));
  const std::uint32_t give = policy::blocks_to_grant(*holdings, n, grant_limits());
  if (give > 0) {
    n.grants.grant(give, now);
    down.take(std::uint64_t{give} * granted_block_bytes());
  }
  if (n.holds.has_everything()) state.upload_kib = upload_kib();
  const auto connections = static_cast<std::uint32_t>(neighbours.size());
  state.neighbours = n.news.take_connections(connections);
  state.acknowledged = n.news.take_acknowledgement();
  state.credit = n.grants.credit();
  std::uint32_t sources = 0;
  for (const Neighbour& other : neighbours) sources += other.holds.has_everything() ? 1 : 0;
  state.prefer_coded = sources > 1;

  const std::size_t spans_max = std::min(entries_max, limits::kStateSpansMax);
  state.complete = n.news.take_complete(spans_max);
  state.withdrawn = n.news.take_withdrawn((spans_max - state.complete.size()) / 2);
  state.unwanted = state.withdrawn;  // what is lost for good is not wanted either

  const std::vector<std::uint32_t> changed = n.news.take_changed(entries_max);
  state.generations.reserve(changed.size());
  for (const std::uint32_t g : changed) {
    proto::GenerationState& entry = state.generations.emplace_back();
    entry.generation = g;
    entry.rank = holdings->rank(g);
    entry.quota = rescue.accepts(g, n.id) && may_open(g)
                      ? policy::quota_of(*holdings, neighbours, n, g, rotation, now)
                      : 0;
    entry.null_vector = n.news.take_null_vector(g);
  }
  n.news.told(now);
  return state;
}

}  // namespace firn::core
