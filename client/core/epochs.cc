#include "client/core/epochs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/core/policy/constants.h"
#include "codec/check_key.h"
#include "proto/content/authority.h"
#include "proto/epoch_signature.h"

namespace firn::core {

namespace {

// Where many polluters gather at a source, they would take its uplink with Epochs alone.
bool shunned(const Neighbour& n) {
  return n.worth <= policy::kWorthMin;
}

}  // namespace

Epochs::Epochs(const Context& context, Membership& membership, Outbox& outbox,
               const Holdings& holdings, const Discredited& discredited, std::string authority_key)
    : context_(context),
      membership_(membership),
      outbox_(outbox),
      holdings_(holdings),
      discredited_(discredited),
      authority_key_(std::move(authority_key)),
      random_(context.options.seed, 0x65706f6368) {}

bool Epochs::alive() const {
  return latest_ && context_.now - came_at_ < policy::kEpochSilence;
}

bool Epochs::alarm() const {
  return latest_ && latest_->alarm && context_.now - came_at_ < policy::kAlarmSilence;
}

TimeUs Epochs::next_due() const {
  if (alarm()) return came_at_ + policy::kAlarmSilence;
  return alive() ? came_at_ + policy::kEpochSilence : kNever;
}

// --- one that comes ---

bool Epochs::fits(const proto::Epoch& epoch) const {
  return std::all_of(epoch.sums.begin(), epoch.sums.end(), [this](const proto::EpochSums& one) {
    if (one.generation >= holdings_.generation_count()) return false;
    const std::size_t blocks = holdings_.blocks_in(one.generation);
    return one.sums.size() % blocks == 0 &&
           codec::CheckKey::valid_tag_bytes(one.sums.size() / blocks);
  });
}

bool Epochs::is_signed(const proto::Epoch& epoch) const {
  const bool known = latest_ && latest_->speaker == epoch.speaker;
  return (known ||
          certified(authority_key_, context_.content_id, speaker_of(epoch), epoch.certificate)) &&
         epoch_signed(epoch, context_.content_id);
}

// An honest neighbour sends each Epoch once at most, and none before it has checked it.
Epochs::Verdict Epochs::came(Neighbour& n, proto::Epoch&& epoch) {
  const auto allowance =
      allowances_.try_emplace(n.key, policy::kEpochsPerSecond, policy::kEpochsAtOnce, context_.now);
  // As after a connection that stood still for long.
  if (!allowance.first->second.try_take(1, context_.now)) return Verdict::kOld;
  if (!n.epochs.came(epoch.speaker, epoch.number) || !fits(epoch)) return Verdict::kFalse;
  if (latest_ && epoch.speaker == latest_->speaker) n.epochs.shown(epoch.number);
  const auto last = numbers_.find(epoch.speaker);
  if (last != numbers_.end() && epoch.number <= last->second) return Verdict::kOld;
  if (alive() && epoch.speaker != latest_->speaker) return Verdict::kOld;
  if (discredited_.contains(speaker_of(epoch))) return Verdict::kOld;
  if (!is_signed(epoch)) return Verdict::kFalse;
  if (upstream_ != n.key) {
    if (Neighbour* last = membership_.find(upstream_)) last->news.report_terms();
    upstream_ = n.key;
    n.news.report_terms();
  }
  keep(std::move(epoch));
  n.epochs.shown(latest_->number);
  hand_on();
  return Verdict::kNews;
}

void Epochs::speak(proto::Epoch&& epoch) {
  keep(std::move(epoch));
  hand_on();
}

void Epochs::keep(proto::Epoch&& epoch) {
  if (!latest_ || latest_->speaker != epoch.speaker) {
    for (Neighbour& n : membership_.neighbours()) n.epochs.forget();
    ++speakers_;
    speaker_ = speaker_of(epoch);
  }
  ++kept_;
  numbers_[epoch.speaker] = epoch.number;
  latest_ = std::move(epoch);
  came_at_ = context_.now;
}

// Another may speak at once.
void Epochs::discredit(const PeerId& id) {
  if (speaks(id)) latest_.reset();
}

void Epochs::leaves(const Neighbour& n) {
  if (upstream_ == n.key) upstream_ = kNoPeer;
  allowances_.erase(n.key);
}

// --- handing on ---

void Epochs::send(Neighbour& n) {
  n.epochs.sent(latest_->number);
  outbox_.send(n, *latest_);
}

void Epochs::hand_on() {
  std::vector<Neighbour*> others;
  std::size_t asking = 0;
  for (Neighbour& n : membership_.neighbours()) {
    if (!n.holds.heard() || n.epochs.has(latest_->number) || shunned(n)) continue;
    if (n.epochs.wants() && asking < policy::kEpochFanOut) {
      send(n);
      ++asking;
    } else if (!n.holds.has_everything()) {
      others.push_back(&n);
    }
  }
  const std::size_t first = kept_ < policy::kEpochFirst ? policy::kEpochSpreadFirst : 0;
  std::size_t spread = std::max<std::size_t>(first, policy::kEpochSpread);
  for (; spread > 0 && !others.empty(); --spread) {
    const std::size_t at = random_.below(static_cast<std::uint32_t>(others.size()));
    send(*others[at]);
    others[at] = others.back();
    others.pop_back();
  }
}

// A State shows that the neighbour is behind: nobody else hands the Epoch on to it.
void Epochs::told(Neighbour& n) {
  if (!alive() || context_.now < came_at_ + policy::kEpochLag || n.holds.has_everything()) return;
  if (!n.epochs.has(latest_->number) && !shunned(n)) send(n);
}

}  // namespace firn::core
