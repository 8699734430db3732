#include "client/core/epoch_making.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "client/core/policy/constants.h"
#include "proto/base/limits.h"
#include "proto/epoch_signature.h"

namespace firn::core {
namespace {

constexpr std::uint64_t kHeadBytes = 512;  // key, signature and certificate
constexpr std::uint64_t kCopies = policy::kEpochFanOut + policy::kEpochSpread;
std::uint64_t bytes_beside_sums(const proto::Epoch& epoch) {
  return kHeadBytes + epoch.heard.size() * sizeof(proto::HeardNonce) +
         epoch.convicted.size() * sizeof(PeerId);
}

}  // namespace

EpochMaking::EpochMaking(const Context& context, Membership& membership, Outbox& outbox,
                         const Uplink& uplink, const Holdings& holdings, Convictions& convictions,
                         Epochs& epochs)
    : context_(context),
      membership_(membership),
      outbox_(outbox),
      uplink_(uplink),
      holdings_(holdings),
      convictions_(convictions),
      epochs_(epochs),
      number_(context.options.epochs_before) {}

bool EpochMaking::speaks() const {
  if (membership_.certificate().empty()) return false;
  return !epochs_.alive() || speaker_of(*epochs_.latest()) == context_.options.self;
}

// --- what neighbours send ---

void EpochMaking::asked(const Neighbour& n, const proto::EpochRequest& request) {
  if (request.nonce) {
    std::vector<Heard>& heard = heard_[n.key];
    if (heard.size() == policy::kNoncesPerNeighbour) heard.erase(heard.begin());
    heard.push_back({*request.nonce, context_.now});
  }
  if (request.alarm) alarm_.raise(context_.now);
  wanted_[n.key] = {request.wanted.begin(), request.wanted.end()};
}

void EpochMaking::leaves(const Neighbour& n) {
  heard_.erase(n.key);
  wanted_.erase(n.key);
}

std::vector<proto::HeardNonce> EpochMaking::take_heard() {
  std::vector<proto::HeardNonce> named;
  for (const auto& [peer, heard] : heard_) {
    for (const Heard& one : heard) {
      const TimeUs age = context_.now - one.at;
      if (named.size() == limits::kEpochHeardMax || age > std::numeric_limits<std::uint32_t>::max())
        break;
      named.push_back({one.nonce, static_cast<std::uint32_t>(age)});
    }
  }
  heard_.clear();
  return named;
}

// --- when ---

// Some neighbour downloads, in a mesh where not every peer can ask for itself.
bool EpochMaking::needed() const {
  if (!speaks() || making_ || membership_.small_mesh()) return false;
  const Neighbours& all = std::as_const(membership_).neighbours();
  return std::any_of(all.begin(), all.end(), [](const Neighbour& n) {
    return n.holds.heard() && !n.holds.has_everything();
  });
}

// Any neighbour can raise the alarm: what follows must not take a slow uplink. So Epochs are
// smaller there, and those that are not small come later.
std::uint64_t EpochMaking::allowed_bytes() const {
  const std::uint64_t rate = std::uint64_t{uplink_.kib_per_second()} << 10;
  return rate == 0 ? UINT64_MAX : rate / policy::kEpochUplinkShare;
}

TimeUs EpochMaking::paced(TimeUs shortest, TimeUs longest) const {
  return std::clamp(static_cast<TimeUs>(cost_ * kSecond / allowed_bytes()), shortest, longest);
}

TimeUs EpochMaking::interval() const {
  if (alarm()) {
    return paced(
        alarm_.fresh(context_.now) ? policy::kEpochIntervalAlarm : policy::kEpochIntervalAlarmLong,
        policy::kAlarmSilence / 2);
  }
  if (told_alarm_) return policy::kEpochIntervalAlarm;
  return early() ? paced(policy::kEpochIntervalEarly, policy::kEpochInterval)
                 : policy::kEpochInterval;
}

// An Epoch is to be little beside what peers receive meanwhile, unless nothing is received at all.
// The first ones come sooner, as false rows are found the later the more of them there are. So does
// the one that ends the alarm: until it comes peers take only rows that no Epoch proves any more.
bool EpochMaking::due() const {
  const TimeUs since = context_.now - made_at_;
  if (since < interval()) return false;
  if (since >= (alarm() ? policy::kEpochIntervalAlarmMax : policy::kEpochIntervalMax)) return true;
  const std::uint64_t blocks = uplink_.blocks_sent() - sent_then_;
  if (!alarm() && (told_alarm_ || early())) return told_alarm_ || blocks > 0;
  return blocks * holdings_.shape().block_bytes >=
         (alarm() ? policy::kEpochBytesAlarm : policy::kEpochBytesQuiet);
}

// Before that blocks that leave have it looked at.
TimeUs EpochMaking::next_due() const {
  if (!needed()) return kNever;
  if (!alarm()) return made_at_ + (told_alarm_ ? interval() : policy::kEpochIntervalMax);
  return made_at_ + std::max(interval(), policy::kEpochIntervalAlarmMax);
}

void EpochMaking::step() {
  if (!needed() || !due()) return;
  proto::Epoch epoch;
  epoch.certificate = context_.certificate;
  epoch.number = ++number_;
  epoch.time_us = context_.now;
  epoch.alarm = told_alarm_ = alarm();
  epoch.heard = take_heard();
  const std::uint64_t room = allowed_bytes() / kCopies / policy::kEpochConvictedShare;
  epoch.convicted = convictions_.take_told(std::clamp<std::uint64_t>(
      room / sizeof(PeerId), policy::kEpochConvictedMin, limits::kEpochConvictedMax));
  const std::uint64_t other_bytes = bytes_beside_sums(epoch);
  epoch.sums = choose(other_bytes);
  cost_ = kCopies * (other_bytes + epoch.sums.size() * sum_bytes());
  made_at_ = context_.now;
  sent_then_ = uplink_.blocks_sent();
  making_ = true;
  outbox_.push(MakeEpoch{std::move(epoch), policy::kCheckTagBytes});
}

// --- of which generations ---

// Those of which most neighbours hold a part or want rows judged; the longer ago an Epoch had
// them the sooner.
std::vector<proto::EpochSums> EpochMaking::choose(std::uint64_t other_bytes) {
  std::map<std::uint32_t, std::uint64_t> votes;
  for (const Neighbour& n : std::as_const(membership_).neighbours()) {
    if (!n.holds.heard() || n.holds.has_everything()) continue;
    n.holds.partial().each([&](std::uint32_t g, const RemoteGeneration& known) {
      if (known.rank > 0 && n.holds.wants(g)) ++votes[g];
    });
  }
  for (const auto& [peer, wanted] : wanted_) {
    for (const std::uint32_t g : wanted) {
      if (g < holdings_.generation_count()) ++votes[g];
    }
  }
  wanted_.clear();
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked;
  for (const auto& [g, count] : votes) {
    if (!holdings_.verified().contains(g)) continue;
    const auto judged = judged_.try_emplace(g, context_.options.epochs_before).first;
    const std::uint64_t waits = number_ - judged->second;
    ranked.emplace_back(count * waits, g);
  }
  std::sort(ranked.rbegin(), ranked.rend());
  const std::uint64_t allowed = allowed_bytes() / kCopies;
  const std::uint64_t room =
      !alarm() ? policy::kEpochSumBytesQuiet
               : std::min<std::uint64_t>(policy::kEpochSumBytesAlarm,
                                         allowed - std::min(allowed, other_bytes));
  const std::size_t most = std::clamp<std::size_t>(room / sum_bytes(), 1, limits::kEpochSumsMax);
  ranked.resize(std::min(ranked.size(), most));
  std::vector<proto::EpochSums> chosen;
  for (const auto& [score, g] : ranked) {
    chosen.push_back({g, {}});
    judged_[g] = number_;
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const auto& a, const auto& b) { return a.generation < b.generation; });
  return chosen;
}

void EpochMaking::made(proto::Epoch&& epoch) {
  making_ = false;
  if (!epoch.signature.empty()) epochs_.speak(std::move(epoch));
}

}  // namespace firn::core
