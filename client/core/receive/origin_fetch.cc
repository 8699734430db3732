#include "client/core/receive/origin_fetch.h"

#include <algorithm>
#include <utility>

#include "client/core/neighbour/remote_holdings.h"

namespace firn::core {

constexpr TimeUs kUsualMax = 30 * kSecond;     // whatever neighbours claim
constexpr TimeUs kRunTime = 1 * kSecond;       // how long a run should last
constexpr std::uint32_t kRunMax = 64;          // generations
constexpr std::size_t kRunsMax = 2;            // of a peer at a time
constexpr TimeUs kAtOnce = 2;                  // runs among neighbours, however slow the origin is
constexpr TimeUs kQuick = 500 * kMillisecond;  // a generation in less time: more runs are allowed
constexpr TimeUs kLookAgain = 100 * kMillisecond;
constexpr std::uint32_t kLookedMax = 1024;    // generations, in one look
constexpr TimeUs kMeetingTime = 1 * kSecond;  // until neighbours have said what they fetch

OriginFetch::OriginFetch(const MeshPart& mesh, const Trackers& trackers,
                         const StorePressure& pressure, Downlink& down, Generations& generations,
                         Receiving& receiving)
    : MeshPart(mesh),
      trackers_(trackers),
      pressure_(pressure),
      down_(down),
      generations_(generations),
      receiving_(receiving),
      random_(context_.options.seed, 0x6f726967696e),
      lacking_(generations.holdings().generation_count()),
      taken_(generations.holdings().generation_count()) {}

// --- what happens ---

void OriginFetch::open(bool open) {
  if (std::exchange(open_, open) == open || !open) return;
  reviewed_at_ = look_at_ = due_ = context_.now;
  rows_then_ = receiving_.counts().innovative;
}

// Whether the first neighbours are still to come, with claims.
bool OriginFetch::meets_others() const {
  const Options& options = context_.options;
  const bool known = !options.peers.empty() ||
                     (!options.trackers.empty() && trackers_.swarm_told() != 1);  // this peer
  return known && membership_.neighbours().empty() &&
         context_.now < life_.began_at() + kMeetingTime;
}

void OriginFetch::took(TimeUs each) {
  const auto blend = [](std::optional<TimeUs>& mean, TimeUs one) {
    mean = mean ? (3 * *mean + one) / 4 : one;
  };
  each = std::clamp(each, kMillisecond, kUsualMax);
  blend(usual_, each);
  const TimeUs all = std::max<TimeUs>(under_way().all, 1);
  blend(share_, each / all);
  if (all <= kAtOnce) undisturbed_ = each;
}

void OriginFetch::fetched(std::uint32_t g, bool verified) {
  const auto run = std::ranges::find_if(
      runs_, [g](const Run& one) { return g - one.left.first < one.left.count; });
  if (run == runs_.end()) return;
  const TimeUs now = context_.now;
  if (verified) took(now - run->since);
  measured_ |= verified;
  *run = {{g + 1, run->left.first + run->left.count - g - 1}, now};
  goes_on_ = run->left.count == 0;
  if (goes_on_) runs_.erase(run);
  tell();
  look_at_ = verified ? now : now + kLookAgain;
  if (!verified) {
    next_ = UINT32_MAX;  // what lies beside it may be of the same bad file or folder
    return;
  }
  const std::uint64_t bytes = holdings().shape().bytes_in_generation(g);
  down_.take(bytes);
  if (receiving_.fetched(g)) bytes_ += bytes;
}

void OriginFetch::told(const Neighbour& n) {
  Claims& known = claims_[n.key];
  if (n.fetching != known.runs) {
    std::uint32_t came = 0;
    for (const proto::Span& run : known.runs)
      for (std::uint32_t i = 0; i < std::min(run.count, kRunMax); ++i)
        came += n.holds.complete().contains(run.first + i);
    if (came > 0 && !measured_)  // it may be false, and this peer knows better
      took((context_.now - known.since) * static_cast<TimeUs>(known.runs.size()) / came);
    if (came > 0 || known.runs.empty()) known.since = context_.now;
    known.runs = n.fetching;
  }
  if (known.runs.empty()) claims_.erase(n.key);
}

// --- choice ---

TimeUs OriginFetch::lapse() const {
  return std::max(kLapseTimes * usual_.value_or(kUsualAtFirst), kLapseMin);
}

void OriginFetch::review() {
  if (context_.now - reviewed_at_ < lapse()) return;
  const std::uint64_t rows = receiving_.counts().innovative;
  bool offered = !claims_.empty();
  for (const Neighbour& n : std::as_const(membership_).neighbours()) {
    offered |= !holdings().settled().includes(n.holds.complete());
    n.holds.partial().each([&](std::uint32_t g, const RemoteGeneration& known) {
      offered |= known.rank > 0 && holdings().wants(g);
    });
  }
  alone_ = offered && rows - rows_then_ < holdings().shape().generation_size;
  rows_then_ = rows;
  reviewed_at_ = context_.now;
}

bool OriginFetch::counts(const Claims& claims) const {
  return !alone_ && context_.now - claims.since < lapse();
}

OriginFetch::Count OriginFetch::under_way() const {
  Count count{static_cast<TimeUs>(runs_.size()), 0};
  for (const auto& [peer, claims] : claims_) {
    if (!counts(claims)) continue;
    const auto runs = static_cast<TimeUs>(claims.runs.size());
    count.all += runs;
    if (membership_.find(peer)->id < context_.options.self) count.before_us += runs;
  }
  return count;
}

void OriginFetch::look() {
  taken_ = holdings().settled();
  taken_.add_all(lacking_);
  const auto take = [this](const proto::Span& run) {
    for (std::uint32_t i = 0; i < std::min(run.count, kRunMax); ++i) taken_.add(run.first + i);
  };
  for (const Run& run : runs_) take(run.left);
  for (const auto& [peer, claims] : claims_)
    if (counts(claims)) std::ranges::for_each(claims.runs, take);
  if (alone_) return;
  for (const Neighbour& n : std::as_const(membership_).neighbours())
    taken_.add_all(n.holds.complete());
}

// A generation of which a neighbour has rows will come. Rows that are here count only while they
// become more: their holder may have gone.
bool OriginFetch::free(std::uint32_t g) {
  if (taken_.contains(g) || holdings().decoding(g)) return false;
  if (alone_) return true;
  if (const OpenGeneration* open = holdings().find_open(g)) {
    const TimeUs stands_at = open->last_growth + kStandsTimes * usual_.value_or(kUsualAtFirst);
    if (context_.now < stands_at) due_ = std::min(due_, stands_at);
    return context_.now >= stands_at;
  }
  return std::ranges::none_of(std::as_const(membership_).neighbours(),
                              [g](const Neighbour& n) { return n.holds.rank(g) > 0; });
}

// If the origin's uplink is the bottleneck, one more run makes all runs slower in proportion; if it
// is not, peers begin more runs one by one. Of the peers that end a run, those with the lowest ids
// begin the next at once. Others draw a random turn, as all neighbours see the same room.
bool OriginFetch::may_start() {
  const Count now = under_way();
  const std::size_t others = membership_.neighbours().size();
  const bool quick = others == 0 || (share_ && *share_ * (now.all + 1) < kQuick);
  if (runs_.size() >= (quick && usual_ ? kRunsMax : 1)) return false;
  if (quick || (goes_on_ && now.before_us < kAtOnce)) return true;
  const bool few = now.all < kAtOnce;
  const Turn turn = few                                                ? Turn::kOneOfFew
                    : undisturbed_ && *usual_ * 4 <= *undisturbed_ * 5 ? Turn::kOneMore
                                                                       : Turn::kNone;
  if (turn == std::exchange(turn_, turn)) {
    turn_ = Turn::kNone;
    return turn != Turn::kNone;
  }
  if (turn == Turn::kNone) return false;
  const auto turns =
      static_cast<std::uint64_t>(usual_.value_or(kUsualAtFirst)) * (few ? 1 : others);
  look_at_ = due_ =
      context_.now + usual_.value_or(0) / 2 + static_cast<TimeUs>(random_.next_u64() % turns);
  return false;
}

// First what a user reads, here or at a neighbour; then the generation behind the last run; then a
// random one, so that peers do not all ask for the same.
std::optional<std::uint32_t> OriginFetch::choose() {
  for (const std::uint32_t urgency : {proto::kAwaited, proto::kReadSoon})
    for (const auto& [g, known] : generations_.urgent())
      if (known == urgency && free(g)) return g;
  for (const Neighbour& n : std::as_const(membership_).neighbours())
    for (const auto& [soon, g] : n.holds.urgent())
      if (free(g)) return g;
  const std::uint32_t count = holdings().generation_count();
  if (next_ < count && free(next_)) return next_;
  std::uint32_t g = random_.below(count);
  for (std::uint32_t looked = 0; looked < kLookedMax; ++looked) {
    g = taken_.next_missing(g);
    if (g == count) g = taken_.next_missing(0);
    if (g == count) break;
    if (free(g)) return g;
    ++g;
  }
  return std::nullopt;
}

// As many generations as come within kRunTime; fewer near the end, which neighbours share.
bool OriginFetch::start(std::optional<std::uint32_t> first) {
  if (!first) return false;
  const std::uint64_t n = holdings().shape().generation_size;
  const std::uint64_t shares = 4 * (membership_.neighbours().size() + 1);
  const auto in_time = static_cast<std::uint64_t>(kRunTime / usual_.value_or(kRunTime));
  const std::uint64_t most =
      std::min({std::uint64_t{kRunMax}, in_time, holdings().missing() / n / shares,
                down_.blocks_allowed(context_.now) / n});
  Run run{{*first, 0}, context_.now};
  next_ = *first;
  do {
    ++run.left.count;
    taken_.add(next_++);
  } while (run.left.count < most && next_ < holdings().generation_count() && free(next_));
  runs_.push_back(run);
  outbox_.push(FetchFromOrigin{run.left.first, run.left.count});
  return true;
}

void OriginFetch::tell() {
  std::vector<proto::Span> spans;
  for (const Run& run : runs_) spans.push_back(run.left);
  generations_.set_fetching(std::move(spans));
  for (Neighbour& n : membership_.neighbours()) n.untold.report_terms();
}

void OriginFetch::step() {
  if (idle()) return;
  due_ = look_at_;
  if (context_.now < look_at_) return;
  look_at_ = context_.now + kLookAgain;
  review();
  const bool may_ask = !meets_others() && down_.ready(context_.now);
  due_ = !may_ask ? look_at_ : membership_.neighbours().empty() ? kNever : reviewed_at_ + lapse();
  look();
  if (!may_ask) return;
  bool any = false;
  while (may_start() && start(choose())) any = true;
  goes_on_ = false;
  if (any) tell();
}

}  // namespace firn::core
