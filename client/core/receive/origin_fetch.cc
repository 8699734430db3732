#include "client/core/receive/origin_fetch.h"

#include <algorithm>
#include <utility>

#include "client/core/neighbour/remote_holdings.h"

namespace firn::core {

constexpr TimeUs kUsualAtFirst = 1 * kSecond;  // for a generation, while nothing is known
constexpr TimeUs kUsualMax = 30 * kSecond;     // whatever neighbours make believe
constexpr TimeUs kLapseTimes = 10;             // of what is usual
constexpr TimeUs kLapseMin = 2 * kSecond;
constexpr TimeUs kRunTime = 1 * kSecond;       // a run lasts about so long
constexpr std::uint32_t kRunMax = 64;          // generations
constexpr std::size_t kRunsMax = 2;            // of a peer, and one for its reader
constexpr std::size_t kAtOnce = 2;             // among neighbours, however slow the origin is
constexpr TimeUs kQuick = 500 * kMillisecond;  // for a generation: then there may be more
constexpr TimeUs kLookAgain = 100 * kMillisecond;
constexpr TimeUs kMeetingTime = 1 * kSecond;  // to hear what others fetch already

OriginFetch::OriginFetch(const Context& context, const Life& life, Membership& membership,
                         Outbox& outbox, const StorePressure& pressure, Downlink& down,
                         Generations& generations, Receiving& receiving)
    : context_(context),
      life_(life),
      membership_(membership),
      outbox_(outbox),
      pressure_(pressure),
      down_(down),
      generations_(generations),
      receiving_(receiving),
      random_(context.options.seed, 0x6f726967696e) {}

// --- what happens ---

void OriginFetch::open(bool open) {
  if (std::exchange(open_, open) == open || !open) return;
  reviewed_at_ = look_at_ = context_.now;
  rows_then_ = receiving_.counts().innovative;
  const bool meets = !context_.options.trackers.empty() || !context_.options.peers.empty();
  if (meets && membership_.neighbours().empty())
    look_at_ = std::max(look_at_, life_.began_at() + kMeetingTime);
}

void OriginFetch::took(TimeUs each) {
  each = std::clamp(each, kMillisecond, kUsualMax);
  const auto all = std::max<TimeUs>(static_cast<TimeUs>(under_way()), 1);
  share_ = share_ ? (3 * *share_ + each / all) / 4 : each / all;
  usual_ = usual_ ? (3 * *usual_ + each) / 4 : each;
  if (under_way() <= kAtOnce) undisturbed_ = each;
}

void OriginFetch::fetched(std::uint32_t g, bool verified) {
  const auto run = std::ranges::find_if(runs_, [g](const Run& one) { return one.has(g); });
  if (run == runs_.end()) return;
  const TimeUs now = context_.now;
  if (verified) took(now - run->since);
  const std::uint32_t end = run->first + run->count;
  *run = {g + 1, end - g - 1, now};
  goes_on_ = run->count == 0;
  if (goes_on_) runs_.erase(run);
  tell();
  if (!verified) {
    look_at_ = now + kLookAgain;
    return;
  }
  look_at_ = now;
  const std::uint64_t bytes = holdings().shape().bytes_in_generation(g);
  down_.take(bytes);
  if (receiving_.fetched(g)) bytes_ += bytes;
}

// A run that has become shorter from its front has gone on.
void OriginFetch::told(const Neighbour& n) {
  std::vector<Run> before = std::exchange(claims_[n.key], {});
  std::vector<Run>& now = claims_[n.key];
  for (const proto::Span& span : n.fetching) {
    Run run{span.first, span.count, context_.now};
    for (const Run& old : before) {
      if (old.first + old.count != run.first + run.count) continue;
      if (old.first == run.first) run.since = old.since;
      if (old.first < run.first) took((context_.now - old.since) / (run.first - old.first));
    }
    now.push_back(run);
  }
  for (const Run& old : before) {
    const bool ended = std::ranges::none_of(
        now, [&](const Run& one) { return one.first + one.count == old.first + old.count; });
    if (ended && n.holds.complete().contains(old.first + old.count - 1))
      took((context_.now - old.since) / old.count);
  }
  if (now.empty()) claims_.erase(n.key);
}

// --- choice ---

TimeUs OriginFetch::lapse() const {
  return std::max(kLapseTimes * usual_.value_or(kUsualAtFirst), kLapseMin);
}

void OriginFetch::review() {
  if (context_.now - reviewed_at_ < lapse()) return;
  const std::uint64_t rows = receiving_.counts().innovative;
  const bool offered =
      !claims_.empty() ||
      std::ranges::any_of(std::as_const(membership_).neighbours(), [this](const Neighbour& n) {
        return !holdings().settled().includes(n.holds.complete());
      });
  alone_ = offered && rows - rows_then_ < holdings().shape().generation_size;
  rows_then_ = rows;
  reviewed_at_ = context_.now;
}

template <typename F>
void OriginFetch::each_claim(F&& f) const {
  if (alone_) return;
  for (const auto& [peer, runs] : claims_)
    for (const Run& one : runs)
      if (context_.now - one.since < lapse()) f(one);
}

bool OriginFetch::claimed(std::uint32_t g) const {
  bool any = std::ranges::any_of(runs_, [g](const Run& one) { return one.has(g); });
  each_claim([&](const Run& one) { any |= one.has(g); });
  return any;
}

// What some neighbour has a part of will come, unless it has stopped growing here: its holder went.
bool OriginFetch::free(std::uint32_t g) const {
  if (!holdings().wants(g) || holdings().decoding(g) || claimed(g)) return false;
  if (alone_) return true;
  const OpenGeneration* open = holdings().find_open(g);
  const bool stands =
      open && context_.now - open->last_growth >= 4 * usual_.value_or(kUsualAtFirst);
  for (const Neighbour& n : std::as_const(membership_).neighbours())
    if (n.holds.complete().contains(g) || (!stands && n.holds.rank(g) > 0)) return false;
  return !open || stands;
}

std::size_t OriginFetch::under_way() const {
  std::size_t all = runs_.size();
  each_claim([&](const Run&) { ++all; });
  return all;
}

// If the origin's uplink limits them, one more makes all slower in proportion. Where it does not,
// runs become more one by one. Others see the same room, so each peer draws its turn.
bool OriginFetch::may_start() {
  if (runs_.size() >= (usual_ ? kRunsMax : 1)) return false;
  const auto all = static_cast<TimeUs>(under_way());
  if (share_ && *share_ * (all + 1) < kQuick) return true;
  const bool few = all < TimeUs(kAtOnce);
  const bool room = few || (undisturbed_ && *usual_ * 4 <= *undisturbed_ * 5);
  const std::size_t others = membership_.neighbours().size();
  if (!room || others == 0 || drawn_for_ == all || (few && goes_on_)) {
    drawn_for_ = -1;
    return room;
  }
  drawn_for_ = all;
  const TimeUs usual = usual_.value_or(0) / 2;
  const TimeUs turns = usual_.value_or(kUsualAtFirst) * static_cast<TimeUs>(few ? 1 : others);
  look_at_ = context_.now + usual + random_.below(static_cast<std::uint32_t>(turns));
  return false;
}

std::optional<std::uint32_t> OriginFetch::choose_urgent() const {
  std::optional<std::uint32_t> soon;
  for (const auto& [g, urgency] : generations_.urgent()) {
    if (!free(g)) continue;
    if (urgency == proto::kAwaited) return g;
    if (!soon) soon = g;
  }
  return soon;
}

// Behind the last run, else from anywhere: peers that look for what is left find different ones.
std::optional<std::uint32_t> OriginFetch::choose() {
  const std::uint32_t count = holdings().generation_count();
  if (next_ < count && free(next_)) return next_;
  GenerationSet taken = holdings().settled();
  if (!alone_)
    for (const Neighbour& n : std::as_const(membership_).neighbours())
      taken.add_all(n.holds.complete());
  for (const std::uint32_t from : {random_.below(count), 0U})
    for (std::uint32_t g = taken.next_missing(from); g < count; g = taken.next_missing(g + 1))
      if (free(g)) return g;
  return std::nullopt;
}

// So long that it takes kRunTime, or what is left for each of those that may fetch.
std::uint32_t OriginFetch::length(std::uint32_t first) {
  const std::uint64_t n = holdings().shape().generation_size;
  const std::uint64_t peers = membership_.neighbours().size() + 1;
  std::uint64_t most = std::min<std::uint64_t>(kRunMax, holdings().missing() / n / (4 * peers));
  most = std::min<std::uint64_t>(most,
                                 static_cast<std::uint64_t>(kRunTime / usual_.value_or(kRunTime)));
  most = std::min(most, down_.blocks_allowed(context_.now) / n);
  std::uint32_t count = 1;
  while (count < most && first + count < holdings().generation_count() && free(first + count))
    ++count;
  return count;
}

bool OriginFetch::start(std::optional<std::uint32_t> first, std::uint32_t count_max) {
  if (!first) return false;
  const std::uint32_t count = std::min(length(*first), count_max);
  runs_.push_back({*first, count, context_.now});
  next_ = *first + count;
  outbox_.push(FetchFromOrigin{*first, count});
  return true;
}

void OriginFetch::tell() {
  std::vector<proto::Span> spans;
  for (const Run& run : runs_) spans.push_back({run.first, run.count});
  generations_.set_fetching(std::move(spans));
  for (Neighbour& n : membership_.neighbours()) n.untold.report_terms();
}

void OriginFetch::step() {
  if (idle() || context_.now < look_at_) return;
  look_at_ = context_.now + kLookAgain;
  review();
  if (pressure_.paused() || !down_.ready(context_.now)) return;
  bool any = runs_.size() <= kRunsMax && start(choose_urgent(), 1);
  while (may_start() && start(choose(), kRunMax)) any = true;
  goes_on_ = false;
  if (any) tell();
}

TimeUs OriginFetch::next_due() {
  return idle() ? kNever : look_at_;
}

}  // namespace firn::core
