#include "client/core/timekeeping.h"

#include <algorithm>
#include <string>

#include "client/core/policy/constants.h"
#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/wire_fields.h"

namespace firn::core {

namespace {

proto::Nonce nonce_from(const Digest& digest) {
  proto::Nonce nonce;
  std::copy_n(digest.bytes.begin(), nonce.size(), nonce.begin());
  return nonce;
}

proto::Nonce hash_of(const std::vector<proto::Nonce>& list) {
  std::string bytes = "firn nonces v1";
  for (const proto::Nonce& nonce : list) bytes.append(nonce.begin(), nonce.end());
  return nonce_from(sha256(proto::as_bytes(bytes)));
}

bool contains(const std::vector<proto::Nonce>& list, const proto::Nonce& nonce) {
  return std::find(list.begin(), list.end(), nonce) != list.end();
}

}  // namespace

Timekeeping::Timekeeping(const Context& context, Membership& membership, Outbox& outbox,
                         const Epochs& epochs)
    : context_(context), membership_(membership), outbox_(outbox), epochs_(epochs) {}

// Unknown to all others: the seed of other choices can be guessed from what they lead to.
proto::Nonce Timekeeping::draw() {
  std::string bytes = "firn nonce v1";
  const auto& secret = context_.options.nonce_secret;
  bytes.append(secret.begin(), secret.end());
  bytes.append(context_.options.self.raw());
  bytes += std::to_string(context_.options.seed) + " " + std::to_string(++drawn_);
  return nonce_from(sha256(proto::as_bytes(bytes)));
}

// --- towards the authority ---

void Timekeeping::asked(const Neighbour& n, const proto::EpochRequest& request) {
  const auto allowance = allowances_.try_emplace(n.key, policy::kEpochRequestsPerSecond,
                                                 policy::kEpochRequestsAtOnce, context_.now);
  if (!allowance.first->second.try_take(1, context_.now)) return;
  if (request.nonce) gathered_[n.key] = *request.nonce;
  alarm_ |= request.alarm;
  wanted_by_[n.key] = {request.wanted.begin(), request.wanted.end()};
}

void Timekeeping::raise_alarm() {
  alarm_ = true;
}

// A nearer bound lets rows be judged sooner, which matters under alarm.
bool Timekeeping::wants_own() const {
  const TimeUs since = context_.now - own_sent_;
  if (!clock_.known()) return since >= policy::kNonceRetry;
  return since >= (epochs_.alarm() ? policy::kNonceRenewAlarm : policy::kNonceRenew);
}

void Timekeeping::step() {
  if (!epochs_.alive() || context_.now - sent_ < policy::kNonceGather) return;
  const bool alarm = alarm_ && context_.now - alarm_sent_ >= policy::kAlarmRepeat;
  if (gathered_.empty() && !alarm && !wants_own()) return;
  if (membership_.find(epochs_.upstream())) send();
}

TimeUs Timekeeping::next_due() const {
  if (!epochs_.alive() || epochs_.upstream() == kNoPeer) return kNever;
  TimeUs at = own_sent_ + (!clock_.known()   ? policy::kNonceRetry
                           : epochs_.alarm() ? policy::kNonceRenewAlarm
                                             : policy::kNonceRenew);
  if (alarm_) at = std::min(at, alarm_sent_ + policy::kAlarmRepeat);
  if (!gathered_.empty()) at = sent_;
  return std::max(at, sent_ + policy::kNonceGather);
}

void Timekeeping::send() {
  Batch batch;
  batch.sent = context_.now;
  if (wants_own()) {
    batch.own = true;
    batch.list.push_back(draw());
    own_sent_ = context_.now;
  }
  for (const auto& [peer, nonce] : gathered_) {
    if (batch.list.size() == limits::kEpochProofNoncesMax) break;
    batch.list.push_back(nonce);
    batch.from.push_back(peer);
  }
  for (const PeerKey peer : batch.from) gathered_.erase(peer);
  proto::EpochRequest request;
  if (!batch.list.empty()) {
    batch.hash = hash_of(batch.list);
    request.nonce = batch.hash;
    batches_.push_back(std::move(batch));
    if (batches_.size() > policy::kNonceBatchesKept) batches_.pop_front();
  }
  request.alarm = alarm_;
  if (alarm_) alarm_sent_ = context_.now;
  alarm_ = false;
  std::map<std::uint32_t, std::uint32_t> count_of;
  for (const std::uint32_t g : wanted_) ++count_of[g];
  for (const auto& [peer, wanted] : wanted_by_)
    for (const std::uint32_t g : wanted) ++count_of[g];
  std::vector<std::pair<std::uint32_t, std::uint32_t>> votes;
  for (const auto& [g, count] : count_of) votes.emplace_back(count, g);
  std::sort(votes.rbegin(), votes.rend());
  votes.resize(std::min(votes.size(), limits::kEpochWantedMax));
  for (const auto& [count, g] : votes) request.wanted.push_back(g);
  wanted_.clear();
  wanted_by_.clear();
  sent_ = context_.now;
  outbox_.send(*membership_.find(epochs_.upstream()), std::move(request));
}

// --- back ---

// The authority, or a neighbour on the way to it, says when the batch had come there.
void Timekeeping::answer(const Batch& batch, std::uint64_t epoch, TimeUs heard,
                         const proto::EpochProof& on) {
  if (batch.own) {
    clock_.heard(batch.sent, heard, context_.now);
    ++bounds_;
    fresh_from_ = std::min(fresh_from_.value_or(epoch), epoch);
  }
  if (on.lists.size() >= limits::kEpochProofListsMax) return;
  proto::EpochProof proof{epoch, {batch.list}};
  proof.lists.insert(proof.lists.end(), on.lists.begin(), on.lists.end());
  for (const PeerKey peer : batch.from) {
    if (Neighbour* n = membership_.find(peer)) outbox_.send(*n, proof);
  }
}

void Timekeeping::learned(const proto::Epoch& epoch) {
  if (speakers_ != epochs_.speakers()) {
    speakers_ = epochs_.speakers();
    clock_.forget();
    fresh_from_.reset();
    batches_.clear();
    heard_.clear();
    own_sent_ = context_.now - policy::kNonceRetry;
  }
  clock_.shows(epoch.time_us, context_.now);
  proto::Epoch& kept = heard_.emplace_back();
  kept.number = epoch.number;
  kept.time_us = epoch.time_us;
  kept.heard = epoch.heard;
  if (heard_.size() > policy::kEpochsKept) heard_.pop_front();
  for (const proto::HeardNonce& one : epoch.heard) {
    const auto batch = std::find_if(batches_.begin(), batches_.end(),
                                    [&](const Batch& sent) { return sent.hash == one.nonce; });
    if (batch == batches_.end()) continue;
    const Batch found = std::move(*batch);
    batches_.erase(batch);
    answer(found, epoch.number, epoch.time_us - one.age_us, {});
  }
  clock_.shows(epoch.time_us, context_.now);
}

bool Timekeeping::proved(const Neighbour&, const proto::EpochProof& proof) {
  const auto epoch = std::find_if(heard_.begin(), heard_.end(), [&](const proto::Epoch& one) {
    return one.number == proof.epoch;
  });
  if (epoch == heard_.end()) return true;  // too late, or too early
  for (std::size_t i = 0; i + 1 < proof.lists.size(); ++i) {
    if (!contains(proof.lists[i + 1], hash_of(proof.lists[i]))) return false;
  }
  const proto::Nonce last = hash_of(proof.lists.back());
  const auto named = std::find_if(epoch->heard.begin(), epoch->heard.end(),
                                  [&](const proto::HeardNonce& one) { return one.nonce == last; });
  if (named == epoch->heard.end()) return false;
  const auto batch = std::find_if(batches_.begin(), batches_.end(), [&](const Batch& sent) {
    return contains(proof.lists.front(), sent.hash);
  });
  if (batch == batches_.end()) return true;
  const Batch found = std::move(*batch);
  batches_.erase(batch);
  answer(found, proof.epoch, epoch->time_us - named->age_us, proof);
  // We may have stood still between our nonce and this.
  clock_.shows(heard_.back().time_us, context_.now);
  return true;
}

void Timekeeping::leaves(const Neighbour& n) {
  gathered_.erase(n.key);
  wanted_by_.erase(n.key);
  allowances_.erase(n.key);
}

}  // namespace firn::core
