#include "client/core/send/choice/relay_policy.h"

#include <algorithm>
#include <utility>

#include "client/core/base/constants.h"
#include "client/core/send/choice/plain_blocks.h"

namespace firn::core::policy {

namespace {

// Of the rows that a neighbour lacks beyond the others when it connects, this many make it come
// sooner. With all of them four peers of twelve that took a fresh key every ten seconds made a race
// 1.9 times as long [047], and a quarter of 28 three times [069].
constexpr std::uint64_t kNewcomerLag = 64;
// A neighbour with fewer neighbours than kFewNeighbours times ours is chosen this many choices
// sooner than others, for each of its kind: a single one is not to be every peer's choice [015].
constexpr std::uint64_t kChoicesForFew = 32;
// A generation that the front of the download has passed stays closed to second-hand rows for this
// many usual round trips, in which first-hand rows of it still come from other relays [056, 070].
// Half: a source that leaves +4 % [096].
constexpr double kFrontRoundTrips = 2;
// A source serves the generations that this peer wants in sequence, so the rows that it sends tell
// where the front is. Rows from peers that want other generations do not. They count only if no row
// has come from a source for this time [099].
constexpr TimeUs kSourceNear = 1 * kSecond;
// Among the neighbours a relay can serve, one row more that a neighbour lacks counts as waiting for
// kChoicesPerRow more of our choices. Strictly the most deprived first, all peers send to the same
// one at once, and its downlink's queue overflows: double +4 % where a source leaves [096]. In
// large meshes no two peers have the same neighbours, and the most deprived matter more [005].
constexpr std::uint64_t kChoicesPerRow = 1;
constexpr std::uint64_t kChoicesPerRowLarge = 4;
// A relay ignores in one choice of 8 what neighbours read now: neighbours that read nothing are not
// to wait until all readers have what they read [100].
constexpr std::uint32_t kUnhurriedShare = 8;
// A neighbour that reads comes before another by this many choices at most: a neighbour that claims
// falsely to read gains that much once, and neighbours that are served last gain nothing [100].
constexpr std::uint64_t kUrgentLead = 2048;
constexpr double kFewNeighbours = 0.75;  // double: 40 peers with polluters +3 % [096]
constexpr std::uint32_t kGapCap = 16;    // rank gaps above count as this
// A neighbour in debt, or on trial, is served when no other can take a block, and in one of so many
// choices [042, 059]. More: an honest newcomer waits; less: takers get blocks.
constexpr std::uint32_t kDebtorShare = 128;
// One choice of so many ignores that a neighbour is of no use: it may have become useful.
constexpr std::uint32_t kOptimisticShare = 32;
// A sender chooses by chance among generations whose blocks are asked for; each generation further
// from the front loses this part of a chance [079].
constexpr double kPlainOrder = 0.1;

constexpr std::uint64_t kServedLast = std::uint64_t{1} << 63;

// It says that it has far fewer neighbours than we have.
bool has_few_neighbours(const Neighbour& n, std::size_t ours) {
  return n.holds.connections() > 0 &&
         n.holds.connections() < kFewNeighbours * static_cast<double>(ours);
}

// Rows that it does not lack. Ranks are hearsay: a neighbour that tells of none has at least what
// we sent it.
std::uint64_t least_rank(const Neighbour& n) {
  return std::max(n.expected_total_rank(), n.pipe.blocks_sent()) + n.holds.rows_spared();
}

// 0: there are none.
template <typename Value>
Value middle_of(std::vector<Value>& all) {
  if (all.empty()) return 0;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

// As the half of the neighbours have it; 0: not known.
TimeUs usual_round_trip(const Neighbours& neighbours) {
  std::vector<TimeUs> all;
  for (const Neighbour& n : neighbours) {
    if (n.grants.round_trip() > 0) all.push_back(n.grants.round_trip());
  }
  return middle_of(all);
}

}  // namespace

std::variant<RelayPolicy::Candidate, WhyNot> RelayPolicy::judge(const Holdings& holdings,
                                                                const Neighbour& neighbour,
                                                                std::uint32_t g, bool small_mesh,
                                                                TimeUs now) const {
  const std::uint32_t n = holdings.blocks_in(g);
  const Rows which = neighbour.holds.takes();
  const RemoteGeneration* known = neighbour.holds.partial().find(g);
  const std::uint32_t need = known ? known->expected_rank() : 0;
  if (need >= n) return WhyNot::kNoNews;
  if (known && known->quota_used()) return WhyNot::kOthersSend;
  if (known && known->plain) {
    if (any_plain_block(holdings, neighbour, g)) return Candidate{g, 1.0, false, true};
    return WhyNot::kNotAskedFor;
  }
  const OpenGeneration* open = holdings.find_open(g);
  const std::uint32_t own = open ? open->count(which) : holdings.rank(g, which);
  if (own == 0) return WhyNot::kNothingProven;
  const std::uint32_t sent = known ? known->sent : 0;
  std::uint32_t gap = own > need ? own - need : 0;
  // What it sent us lies in its span, whatever its last State says of its rank: there is no more
  // news for it than rows that came from others and that we have not sent it combinations of.
  if (open) {
    const std::uint32_t foreign = own - open->rows_from(neighbour.id, which);
    gap = std::min(gap, foreign > sent ? foreign - sent : 0);
  }
  bool closed = false;
  if (!small_mesh) {
    if (gap > 0) return Candidate{g, 1.0 + gap};
  } else {
    // First-hand rule: what came straight from the source is news to the others, once each.
    if (open && open->first_hand.count(which) > sent) return Candidate{g, 5.0 + gap};
    // The front is closed to second-hand rows, which every peer would relay to every other; not so
    // where it stands still, for then nothing else will move it.
    const bool at_front = g >= front_first_ && !(open && now - open->last_growth > kStallTime);
    if (gap > 0 && (own >= n || !at_front || n - need <= kClosing)) return Candidate{g, 1.0 + gap};
    closed = gap > 0;
  }
  // A null vector proves that a block is news although the ranks do not tell.
  if (known && known->has_null_vector) {
    const NullVector& null = *neighbour.holds.null_vector(g);
    const bool news = null.reached_by(own, [&] { return !open || open->reaches(null.z(), which); });
    if (news) return Candidate{g, 1.0, true};
  }
  return closed ? WhyNot::kFront : WhyNot::kNoNews;
}

void RelayPolicy::find_front(const Holdings& holdings, const Neighbours& neighbours, TimeUs now) {
  if (began_ == kNever) began_ = now;
  const bool source_near = now - std::max(holdings.source_row_at(), began_) < kSourceNear;
  const std::uint32_t frontier = source_near ? holdings.source_frontier() : holdings.frontier();
  if (frontier > front_.frontier()) {
    const double lag = kFrontRoundTrips * static_cast<double>(usual_round_trip(neighbours));
    front_.move(frontier, static_cast<TimeUs>(lag), now);
  }
  front_first_ = front_.first(now);
}

// Of those that it reads now, the first that is eligible.
RelayPolicy::Candidate RelayPolicy::best_urgent(const Holdings& holdings, Memory& memory,
                                                bool small_mesh, TimeUs now) {
  const RemoteHoldings& its = memory.neighbour->holds;
  if (its.urgent().empty()) return {};
  memory.prospects.follow(holdings, its, small_mesh);
  for (const auto& [soon, g] : its.urgent()) {
    if (!holdings.held().contains(g) || !memory.prospects.set().contains(g)) continue;
    const auto judged = judge(holdings, *memory.neighbour, g, small_mesh, now);
    if (const auto* candidate = std::get_if<Candidate>(&judged)) return *candidate;
  }
  return {};
}

// Of those we hold some of and it lacks: the lowest eligible generation, in a large mesh the best
// of the lowest eligible ones. The time this takes is bounded, whatever a neighbour claims: where
// the lowest kLookMax are of no use to it, as many others are looked at, in turn. What was of no
// use is not looked at again until something changes there.
RelayPolicy::Candidate RelayPolicy::best_generation(const Holdings& holdings, Memory& memory,
                                                    bool small_mesh, TimeUs now) {
  const Neighbour& neighbour = *memory.neighbour;
  memory.prospects.follow(holdings, neighbour.holds, small_mesh);
  if (const Candidate urgent = best_urgent(holdings, memory, small_mesh, now); urgent.score > 0)
    return urgent;
  std::uint32_t g = neighbour.holds.settled().next_missing(0);
  const Candidate best = best_from(g, holdings, neighbour, memory.prospects, small_mesh, now);
  if (best.score > 0 || g >= holdings.generation_count()) return best;
  g = std::max(g, memory.look_from);
  const std::uint32_t from = g;
  const Candidate other = best_from(g, holdings, neighbour, memory.prospects, small_mesh, now);
  memory.look_from = other.score > 0 ? from : g < holdings.generation_count() ? g : 0;
  return other;
}

// From generation g on, which moves past those looked at.
RelayPolicy::Candidate RelayPolicy::best_from(std::uint32_t& g, const Holdings& holdings,
                                              const Neighbour& neighbour, Prospects& prospects,
                                              bool small_mesh, TimeUs now) {
  Candidate best;
  double best_key = 0;
  std::uint32_t seen = 0;
  const GenerationSet& settled = neighbour.holds.settled();
  const std::uint32_t base = g;
  for (std::uint32_t looked = 0; looked < kLookMax && seen < kScanMax; ++looked, ++g) {
    g = prospects.set().next_common(g, holdings.held(), settled);
    if (g >= holdings.generation_count()) break;
    const auto judged = judge(holdings, neighbour, g, small_mesh, now);
    if (const WhyNot* why = std::get_if<WhyNot>(&judged)) {
      // What the front closes may be news before anything changes there.
      if (*why != WhyNot::kFront) prospects.none_in(g);
      continue;
    }
    const Candidate& candidate = std::get<Candidate>(judged);
    if (small_mesh) return candidate;
    ++seen;
    const bool whole = holdings.rank(candidate.generation, neighbour.holds.takes()) >=
                       holdings.blocks_in(candidate.generation);
    const double order = candidate.plain ? kPlainOrder / 2 : 1e-3;
    const double key = (whole ? std::min(candidate.score, double{kGapCap}) : candidate.score) +
                       random_.below(512) / 1024.0 - (candidate.generation - base) * order;
    if (best.score <= 0 || key > best_key) {
      best = candidate;
      best_key = key;
    }
  }
  return best;
}

void RelayPolicy::look_again() {
  for (Memory& memory : memory_) memory.prospects.forget();
}

// Both lists ascend by key. Neighbours that have left are forgotten.
void RelayPolicy::remember(const Neighbours& neighbours) {
  std::size_t at = 0;
  for (const Neighbour& n : neighbours) {
    while (at < memory_.size() && memory_[at].peer < n.key) {
      memory_.erase(memory_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (at == memory_.size() || memory_[at].peer != n.key) {
      memory_.insert(memory_.begin() + static_cast<std::ptrdiff_t>(at), Memory{.peer = n.key});
    }
    memory_[at++].neighbour = &n;
  }
  memory_.resize(at);
}

// A neighbour that comes late lacks more than all others, and would get nearly every block until it
// has caught up; under a fresh key each time, for ever. So only kNewcomerLag of the rows that it
// lacks beyond the others when it comes make it come sooner.
void RelayPolicy::place_newcomers() {
  const auto is_new = [](const Memory& one) { return !one.placed && one.neighbour->holds.heard(); };
  if (std::ranges::none_of(memory_, is_new)) return;
  std::vector<std::uint64_t> ranks;
  for (const Memory& one : memory_) {
    if (one.placed && !one.neighbour->holds.satisfied())
      ranks.push_back(least_rank(*one.neighbour) + one.head_start);
  }
  const std::uint64_t usual = middle_of(ranks);
  for (Memory& one : memory_) {
    if (!is_new(one)) continue;
    one.placed = true;
    const std::uint64_t counted = least_rank(*one.neighbour) + kNewcomerLag;
    one.head_start = usual > counted ? usual - counted : 0;
  }
}

// In a small mesh those in debt, while this peer needs blocks itself. In a large one some rightly
// have no news for those nearer to the source; but where there are too many polluters to find them
// out one by one (trust::Terms::trial_from), those on trial.
RelayPolicy::Last RelayPolicy::served_last(const Circumstances& circumstances, bool complete) {
  if (circumstances.small_mesh) return complete ? Last::kNobody : Last::kDebtors;
  return circumstances.trial_from == kNever ? Last::kNobody : Last::kOnTrial;
}

bool RelayPolicy::is_last(const Neighbour& neighbour, Last last,
                          const Circumstances& circumstances) {
  if (last == Last::kDebtors) return neighbour.in_debt();
  return on_trial(neighbour.regard()) && neighbour.contact.opened_at() >= circumstances.trial_from;
}

bool RelayPolicy::others_want(const Neighbours& neighbours, Last last,
                              const Circumstances& circumstances) {
  return std::any_of(neighbours.begin(), neighbours.end(), [&](const Neighbour& n) {
    return n.holds.heard() && !n.holds.satisfied() && !is_last(n, last, circumstances);
  });
}

// In turn, but a neighbour that lacks more comes sooner (kChoicesPerRow). Strictly the most
// deprived first, all senders would choose the same one at a time, and its downlink's queue would
// overflow while others stand idle. A neighbour with few neighbours comes sooner: it has only those
// to be served by, and it passes on what it gets to peers with many, for which few others have
// anything. A neighbour that only takes comes after all others, but for an optimistic share of the
// choices: a newcomer has had no chance to give, and a slow peer is not to be starved. Neighbours
// that are served last (served_last) get a block when no other neighbour can take one, and in one
// choice of kDebtorShare.
void RelayPolicy::line_up(const Neighbours& neighbours, const Circumstances& circumstances,
                          bool complete, const Sockets& sockets, TimeUs now) {
  const std::uint64_t row_worth = circumstances.small_mesh ? kChoicesPerRow : kChoicesPerRowLarge;
  const bool optimistic = random_.below(kOptimisticShare) == 0;
  std::uint64_t few = 0;
  for (const Neighbour& n : neighbours) {
    few += !n.holds.has_everything() && has_few_neighbours(n, neighbours.size()) ? 1 : 0;
  }
  eligible_.clear();
  const Last last = served_last(circumstances, complete);
  const bool last_behind = last != Last::kNobody && random_.below(kDebtorShare) != 0 &&
                           others_want(neighbours, last, circumstances);
  for (Memory& memory : memory_) {
    const Neighbour& n = *memory.neighbour;
    if (why_none_now(n, sockets)) continue;
    const bool behind = last_behind && is_last(n, last, circumstances);
    const bool only_takes = last != Last::kDebtors && !optimistic && n.only_takes(now);
    const std::uint64_t late = behind || only_takes ? kServedLast : 0;
    std::uint64_t turn = (least_rank(n) + memory.head_start) * row_worth + memory.last_choice;
    if (!has_few_neighbours(n, neighbours.size())) turn += few * kChoicesForFew;
    eligible_.push_back({late | turn << 10 | random_.below(1024), &memory});
  }
  std::stable_sort(eligible_.begin(), eligible_.end(),
                   [](const Eligible& a, const Eligible& b) { return a.turn < b.turn; });
}

std::optional<Choice> RelayPolicy::choose(const Holdings& holdings, const Neighbours& neighbours,
                                          const Circumstances& circumstances,
                                          const Sockets& sockets, TimeUs now) {
  remember(neighbours);
  place_newcomers();
  if (circumstances.small_mesh) find_front(holdings, neighbours, now);
  line_up(neighbours, circumstances, holdings.done(), sockets, now);
  const auto reads = [](const Eligible& one) {
    return !one.memory->neighbour->holds.urgent().empty();
  };
  const auto chosen = [&](Memory& memory, const Candidate& best) {
    memory.last_choice = ++choices_;
    return Choice{memory.peer, best.generation, std::nullopt, best.use_null_vector, best.plain};
  };
  const bool hurry = std::ranges::any_of(eligible_, reads) && random_.below(kUnhurriedShare) != 0;
  for (const Eligible& one : eligible_) {
    if (!hurry || one.turn > eligible_.front().turn + (kUrgentLead << 10)) break;
    const Candidate best = best_urgent(holdings, *one.memory, circumstances.small_mesh, now);
    if (best.score > 0) return chosen(*one.memory, best);
  }
  for (const Eligible& one : eligible_) {
    const Candidate best = best_generation(holdings, *one.memory, circumstances.small_mesh, now);
    if (best.score > 0) return chosen(*one.memory, best);
  }
  return std::nullopt;
}

// Of the lowest generation that it lacks and of which something is held.
std::optional<WhyNot> RelayPolicy::why_not(const Holdings& holdings, const Neighbours& neighbours,
                                           const Neighbour& neighbour,
                                           const Circumstances& circumstances,
                                           const Sockets& sockets, TimeUs now) const {
  if (const auto why = why_none_now(neighbour, sockets)) return why;
  std::optional<WhyNot> lowest;
  bool news = false;
  const GenerationSet& settled = neighbour.holds.settled();
  for (std::uint32_t g = settled.next_missing(0); g < holdings.generation_count() && !news;
       g = settled.next_missing(g + 1)) {
    if (!holdings.held().contains(g)) continue;
    const auto judged = judge(holdings, neighbour, g, circumstances.small_mesh, now);
    const WhyNot* why = std::get_if<WhyNot>(&judged);
    news = why == nullptr;
    if (why && !lowest) lowest = *why;
  }
  if (!news) return lowest.value_or(WhyNot::kNothingHeld);
  const Last last = served_last(circumstances, holdings.done());
  const bool comes_last = (last != Last::kNobody && is_last(neighbour, last, circumstances)) ||
                          (last != Last::kDebtors && neighbour.only_takes(now));
  if (comes_last && others_want(neighbours, last, circumstances)) return WhyNot::kOthersFirst;
  return std::nullopt;
}

}  // namespace firn::core::policy
