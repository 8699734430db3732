// Blocks and states that leave the swarm core.
#include <algorithm>
#include <utility>

#include "client/core/policy.h"
#include "client/core/swarm_impl.h"
#include "codec/encode.h"
#include "proto/limits.h"

namespace firn::core {

void SwarmCore::Impl::pump() {
  send_manifest_parts();
  if (!holdings || stopped || holdings->total_rank() == 0) return;
  const double rate = sent_rate.bytes_per_second(now);
  const std::uint32_t busy_max =
      source ? policy::kBusyConnectionsSource : busy_connections_max(rate, small_mesh());
  for (auto& [key, n] : neighbours) n->patience = uplink_patience(rate, busy_max);
  while (up.ready(now)) {
    const auto choice = source ? source->choose(*holdings, neighbours, busy_max, now)
                               : relay.choose(*holdings, neighbours, small_mesh(), busy_max, now);
    if (!choice) break;
    send_block(*choice);
    if (source) source->served(*choice, now);
  }
  uplink.waiting(busy_connections(neighbours, now) > 0, now);
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

void SwarmCore::Impl::send_block(const Choice& choice) {
  Neighbour& n = *choice.neighbour;
  const std::uint32_t g = choice.generation;
  SendBlock out;
  out.peer = n.key;
  out.block.generation = g;
  out.block.recoded = !holdings->verified().contains(g);
  if (choice.source_index) {
    out.block.source_index = choice.source_index;
  } else {
    std::vector<std::uint8_t> null;
    if (choice.use_null_vector) null = n.null_vector(g)->z;
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
  n.new_complete.clear();
  n.new_withdrawn.clear();
  n.changed.clear();
  for (std::uint32_t g = holdings->verified().next_present(0); g < holdings->generation_count();
       g = holdings->verified().next_present(g + 1)) {
    n.new_complete.push_back(g);
  }
  for (const auto& [g, open] : holdings->open()) n.changed.push_back(g);
  for (std::uint32_t g = holdings->given_up().next_present(0); g < holdings->generation_count();
       g = holdings->given_up().next_present(g + 1)) {
    n.changed.push_back(g);  // or it would be sent to us by who ignores what is unwanted
    n.new_withdrawn.push_back(g);
  }
  std::sort(n.changed.begin(), n.changed.end());  // what does not fit now is looked up by number
  n.state_sent = true;
  send(n, make_state(n, limits::kStateEntriesMax));
}

bool SwarmCore::Impl::can_grant(const Neighbour& n) {
  return n.outstanding() <= n.window / 2 && blocks_to_grant(*holdings, n, grant_limits()) > 0;
}

bool SwarmCore::Impl::has_news(const Neighbour& n) {
  if (!n.state_sent) return false;
  return n.has_reports() || can_grant(n);
}

// What makes it due earlier touches the neighbour, or all of them (review_grants); until then it
// can only become later, as rates fall.
TimeUs SwarmCore::Impl::state_due(Neighbour& n) {
  if (!n.state_sent) return kNever;
  if (n.state_due <= now) n.state_due = work_out_state_due(n);
  return n.state_due;
}

TimeUs SwarmCore::Impl::work_out_state_due(const Neighbour& n) {
  if (!has_news(n)) return n.last_state + policy::kKeepAlive;
  const bool grants = can_grant(n);
  const TimeUs interval =
      state_interval(*holdings, neighbours, n, grants, holdings->shape().block_bytes, now);
  TimeUs due = n.last_state + interval;
  // Those that can wait a little go together: one step for all.
  if (interval >= policy::kStateIntervalEnd) {
    due = (due + policy::kStateGrain - 1) / policy::kStateGrain * policy::kStateGrain;
  }
  if (!grants || down.unlimited()) return due;
  // What the down limit earns beyond the brim of its bucket is lost, so it is granted before.
  return std::min(due, std::max(down.half_full_at(now), n.last_state + policy::kStateIntervalMin));
}

// Where what bounds all grants has changed, States may be due at other times.
void SwarmCore::Impl::review_grants() {
  const GrantLimits limits = grant_limits();
  const std::uint64_t missing = holdings->missing();
  const GrantRegime regime{!limits.paused && missing > 0 && limits.blocks_max > 0,
                           missing > limits.promised, near_end(*holdings, neighbours)};
  if (regime == grant_regime) return;
  grant_regime = regime;
  for (auto& [key, n] : neighbours) n->touch();
}

void SwarmCore::Impl::send_due_states() {
  if (!holdings || stopped) return;
  review_grants();
  for (auto& [key, n] : neighbours) {
    if (state_due(*n) <= now) send(*n, make_state(*n, limits::kStateEntriesMax));
  }
}

namespace {

// The generations as runs, at most `spans_max` of them; those told are taken out.
std::vector<proto::Span> take_spans(std::vector<std::uint32_t>& generations,
                                    std::size_t spans_max) {
  std::vector<proto::Span> spans;
  std::sort(generations.begin(), generations.end());
  std::size_t told = 0;
  for (const std::uint32_t g : generations) {
    const std::uint32_t end = spans.empty() ? 0 : spans.back().first + spans.back().count;
    if (!spans.empty() && end > g) {
      ++told;  // told already in this very message
      continue;
    }
    if (!spans.empty() && end == g) {
      ++spans.back().count;
    } else {
      if (spans.size() == spans_max) break;
      spans.push_back({g, 1});
    }
    ++told;
  }
  generations.erase(generations.begin(), generations.begin() + static_cast<std::ptrdiff_t>(told));
  return spans;
}

}  // namespace

// At most `entries_max` spans and as many ranks; what is left goes with the next.
proto::State SwarmCore::Impl::make_state(Neighbour& n, std::size_t entries_max) {
  proto::State state;
  const std::uint32_t k = holdings->shape().block_bytes;
  const auto share = options.memory_bytes / 8 / k / std::max<std::size_t>(neighbours.size(), 1);
  adapt_window(n, neighbours.size() == 1, k,
               static_cast<std::uint32_t>(std::min<std::uint64_t>(share, policy::kWindowMax)), now);
  const std::uint32_t give = blocks_to_grant(*holdings, n, grant_limits());
  if (give > 0) {
    n.grant(give, now);
    down.take(std::uint64_t{give} * granted_block_bytes());
  }
  if (n.has_everything()) state.upload_kib = upload_kib();
  const auto connections = static_cast<std::uint32_t>(neighbours.size());
  if (n.neighbours_told != connections) state.neighbours = n.neighbours_told = connections;
  state.acknowledged = n.acknowledged_to_it = n.highest_received;
  state.credit = n.credit_granted;
  std::uint32_t sources = 0;
  for (const auto& [key, other] : neighbours) sources += other->has_everything() ? 1 : 0;
  state.prefer_coded = sources > 1;

  const std::size_t spans_max = std::min(entries_max, limits::kStateSpansMax);
  state.complete = take_spans(n.new_complete, spans_max);
  state.withdrawn = take_spans(n.new_withdrawn, (spans_max - state.complete.size()) / 2);
  state.unwanted = state.withdrawn;  // what is lost for good is not wanted either

  const std::size_t changes = std::min(n.changed.size(), entries_max);
  state.generations.reserve(changes);
  for (std::size_t i = 0; i < changes; ++i) {
    const std::uint32_t g = n.changed[i];
    proto::GenerationState& entry = state.generations.emplace_back();
    entry.generation = g;
    entry.rank = holdings->rank(g);
    entry.quota = rescue.accepts(g, n.id) && may_open(g)
                      ? quota_of(*holdings, neighbours, n, g, rotation, now)
                      : 0;
    if (const auto z = n.null_vectors.find(g); z != n.null_vectors.end()) {
      entry.null_vector = std::move(z->second);
      n.null_vectors.erase(z);
    }
  }
  n.changed.erase(n.changed.begin(), n.changed.begin() + static_cast<std::ptrdiff_t>(changes));
  n.last_state = now;
  n.urgent = false;
  n.touch();
  return state;
}

}  // namespace firn::core
