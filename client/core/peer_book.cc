#include "client/core/peer_book.h"

#include <algorithm>

#include "client/core/policy.h"

namespace firn::core {

namespace {
constexpr std::uint32_t kFailuresMax = 8;  // then an address not given by hand is forgotten
constexpr std::size_t kEntriesMax = 2000;  // strangers may not fill our memory
}  // namespace

void PeerBook::add(const Address& address, bool by_hand, TimeUs now) {
  if (address.port == 0 || (address.id && *address.id == self_)) return;
  if (entries_.size() >= kEntriesMax && !by_hand) return;
  Entry wanted;
  wanted.address = address;
  wanted.by_hand = by_hand;
  wanted.due = now;
  const auto [it, fresh] = entries_.try_emplace(key_of(wanted), wanted);
  Entry& entry = it->second;
  if (!fresh && address.id && !by_hand && entry.address.id != address.id) {
    entry.address.id = address.id;  // someone else has moved in there
    entry.failures = 0;
    entry.due = std::min(entry.due, now);
  }
  quiet_until_ = 0;
}

void PeerBook::add(const proto::PeerEndpoint& endpoint, TimeUs now) {
  if (endpoint.id == self_ || banned(endpoint.id, now)) return;
  add(Address{endpoint.id, endpoint.ip, endpoint.port}, false, now);
}

std::optional<PeerBook::Dial> PeerBook::next_dial(TimeUs now) {
  if (now < quiet_until_) return std::nullopt;
  Entry* best = nullptr;
  const std::string* best_key = nullptr;
  for (auto& [key, entry] : entries_) {
    if (entry.busy || entry.due > now) continue;
    if (entry.address.id && (banned(*entry.address.id, now) || known_.contains(*entry.address.id)))
      continue;
    if (best && (entry.by_hand < best->by_hand ||
                 (entry.by_hand == best->by_hand && entry.due >= best->due)))
      continue;
    best = &entry;
    best_key = &key;
  }
  if (!best) {
    quiet_until_ = next_due();
    return std::nullopt;
  }
  best->busy = true;
  attempts_[next_attempt_] = *best_key;
  return Dial{next_attempt_++, best->address};
}

TimeUs PeerBook::next_due() const {
  TimeUs due = kNever;
  for (const auto& [key, entry] : entries_) {
    if (entry.busy) continue;
    TimeUs at = entry.due;
    if (entry.address.id) {
      if (known_.contains(*entry.address.id)) continue;
      const auto it = strikes_.find(*entry.address.id);
      if (it != strikes_.end()) at = std::max(at, it->second.until);
    }
    due = std::min(due, at);
  }
  return due;
}

void PeerBook::retry_later(Entry& entry, TimeUs now) {
  quiet_until_ = 0;
  ++entry.failures;
  entry.busy = false;
  const std::uint32_t doublings = std::min(entry.failures - 1, 10u);
  entry.due = now + std::min(policy::kRedialFirst << doublings, policy::kRedialMax);
}

std::string PeerBook::opened(std::uint64_t attempt, const PeerId& id, TimeUs) {
  std::set<std::string>& at = known_[id];
  const auto it = attempts_.find(attempt);
  if (it == attempts_.end()) return {};
  at.insert(it->second);
  std::string learnt;
  if (const auto entry = entries_.find(it->second); entry != entries_.end()) {
    entry->second.failures = 0;
    if (!entry->second.address.id) {
      learnt = to_text(entry->second.address);
      entry->second.address.id = id;
    }
  }
  attempts_.erase(it);
  return learnt;
}

void PeerBook::answers_at(const PeerId& id, const Address& address, TimeUs now) {
  const auto it = known_.find(id);
  if (it == known_.end()) return;
  add(address, false, now);
  Entry there;
  there.address = address;
  const std::string key = key_of(there);
  if (entries_.contains(key)) it->second.insert(key);
}

void PeerBook::failed(std::uint64_t attempt, bool wrong_identity, TimeUs now) {
  const auto it = attempts_.find(attempt);
  if (it == attempts_.end()) return;
  const auto entry = entries_.find(it->second);
  attempts_.erase(it);
  if (entry == entries_.end()) return;
  retry_later(entry->second, now);
  if (entry->second.by_hand) return;
  if (wrong_identity || entry->second.failures > kFailuresMax) entries_.erase(entry);
}

void PeerBook::closed(const PeerId& id, bool useless, TimeUs now) {
  const auto it = known_.find(id);
  if (it == known_.end()) return;
  for (const std::string& key : it->second) {
    const auto entry = entries_.find(key);
    if (entry == entries_.end()) continue;
    retry_later(entry->second, now);
    if (useless) entry->second.due = now + policy::kUselessTime;
  }
  known_.erase(it);
}

std::uint32_t PeerBook::strike(const PeerId& id, TimeUs now) {
  Strikes& strikes = strikes_[id];
  // What comes to light while it is banned belongs to the same offence.
  if (now < strikes.until) return strikes.count;
  ++strikes.count;
  const bool forever = strikes.count >= policy::kBanForever;
  strikes.until = forever ? kNever : now + policy::kBanTimes[strikes.count - 1];
  quiet_until_ = 0;
  return strikes.count;
}

bool PeerBook::banned(const PeerId& id, TimeUs now) const {
  const auto it = strikes_.find(id);
  return it != strikes_.end() && now < it->second.until;
}

std::string PeerBook::describe_once(std::uint64_t attempt) {
  const auto it = attempts_.find(attempt);
  if (it == attempts_.end()) return {};
  const auto entry = entries_.find(it->second);
  if (entry == entries_.end() || !entry->second.by_hand || entry->second.described) return {};
  entry->second.described = true;
  return to_text(entry->second.address);
}

}  // namespace firn::core
