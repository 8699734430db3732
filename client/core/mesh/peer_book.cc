#include "client/core/mesh/peer_book.h"

#include <algorithm>
#include <utility>

#include "client/core/mesh/book_shares.h"

namespace firn::core {

namespace {
constexpr std::uint32_t kFailuresMax = 8;  // then an address not given by hand is forgotten
constexpr std::size_t kKeptMax = 1000;     // of each origin: strangers may not fill our memory
constexpr std::size_t kStrikesMax = 4096;
constexpr std::size_t kErrorBytesMax = 300;  // two ids and what to do about them

// What is kept of it: cut between words.
std::string kept_error(const std::string& why) {
  if (why.size() <= kErrorBytesMax) return why;
  return why.substr(0, std::min(why.rfind(' ', kErrorBytesMax), kErrorBytesMax)) + " ...";
}
}  // namespace

void PeerBook::add(const Address& address, bool by_hand, TimeUs now) {
  Entry wanted;
  wanted.address = address;
  wanted.by_hand = by_hand;
  add(std::move(wanted), now);
}

void PeerBook::add(const proto::PeerEndpoint& endpoint, TimeUs now, Origin origin,
                   const std::string& source) {
  if (endpoint.id == self_ || banned(endpoint.id, now)) return;
  Entry wanted;
  wanted.address = Address{endpoint.id, endpoint.ip, endpoint.port};
  wanted.from_tracker = origin == Origin::kTracker;
  wanted.source = source;
  add(std::move(wanted), now);
}

void PeerBook::add(Entry wanted, TimeUs now) {
  const std::optional<PeerId>& id = wanted.address.id;
  if (wanted.address.port == 0) return;
  if (id && *id == self_) {
    if (wanted.by_hand) own_by_hand_ = wanted.address;
    return;
  }
  wanted.due = now;
  wanted.prefix = prefix_of(wanted.address.host);
  const std::string key = key_of(wanted);
  wanted.turn = turn_of(key);
  const auto it = entries_.find(key);
  if (it == entries_.end()) {
    if (wanted.by_hand || make_room(wanted)) insert(key, std::move(wanted));
    return;
  }
  Entry& entry = it->second;
  if (entry.by_hand || !id || entry.busy) return;
  const bool better = wanted.from_tracker && !entry.from_tracker;
  if (entry.address.id != id && (better || entry.failures > 0)) {
    erase(key);  // someone else has moved in there
    insert(key, std::move(wanted));
  } else if (entry.address.id == id && better && kept_[1] < kKeptMax) {
    --kept_[0];
    ++kept_[1];
    entry.from_tracker = true;
    entry.source = wanted.source;
  }
}

void PeerBook::insert(const std::string& key, Entry wanted) {
  if (!wanted.by_hand) ++kept_[wanted.from_tracker];
  entries_.emplace(key, std::move(wanted));
  quiet_until_ = 0;
}

void PeerBook::erase(const std::string& key) {
  const auto it = entries_.find(key);
  if (!it->second.by_hand) --kept_[it->second.from_tracker];
  take_up(it->second, false);
  entries_.erase(it);
}

// Among the addresses of the same origin: trackers and peers cannot displace each other's.
bool PeerBook::make_room(const Entry& newcomer) {
  if (kept_[newcomer.from_tracker] < kKeptMax) return true;
  std::vector<const std::string*> keys;
  std::vector<policy::KeptAddress> kept;
  for (const auto& [key, entry] : entries_) {
    if (entry.by_hand || entry.busy || entry.from_tracker != newcomer.from_tracker) continue;
    keys.push_back(&key);
    kept.push_back({&entry.source, &entry.prefix, entry.turn, entry.failures});
  }
  const auto gone = policy::gives_way(kept, {&newcomer.source, &newcomer.prefix, newcomer.turn, 0});
  if (!gone) return false;
  erase(std::string(*keys[*gone]));
  return true;
}

// Counts the entries of each prefix, and of each origin, that are being called or connected.
void PeerBook::take_up(Entry& entry, bool busy) {
  if (std::exchange(entry.busy, busy) == busy) return;
  if (!entry.by_hand) busy_of_[entry.from_tracker] += busy ? 1 : -1;
  const auto in = busy_in_.try_emplace(entry.prefix, 0).first;
  in->second += busy ? 1 : -1;
  if (in->second == 0) busy_in_.erase(in);
}

// A peer that is connected, or being called at another address, is not called: two connections
// would be opened in different order here and there, and each side close the other one.
bool PeerBook::may_be_called(const Entry& entry) const {
  if (entry.busy) return false;
  if (!entry.address.id) return true;
  if (known_.contains(*entry.address.id)) return false;
  return std::none_of(attempts_.begin(), attempts_.end(), [&](const auto& attempt) {
    const auto other = entries_.find(attempt.second);
    return other != entries_.end() && other->second.address.id == entry.address.id;
  });
}

bool PeerBook::may_be_called(const Entry& entry, TimeUs now) const {
  return may_be_called(entry) && !(entry.address.id && banned(*entry.address.id, now));
}

bool PeerBook::before(const Entry& a, const Entry& b) const {
  if (a.by_hand != b.by_hand) return a.by_hand;
  if (a.failures != b.failures) return a.failures < b.failures;
  // Trackers may lie, and so may peers: neither gets all calls while there are others.
  const std::size_t of_a = busy_of_[a.from_tracker], of_b = busy_of_[b.from_tracker];
  if (of_a != of_b) return of_a < of_b;
  // One prefix does not get all calls while there are others.
  const auto busy = [this](const Entry& entry) {
    const auto in = busy_in_.find(entry.prefix);
    return in == busy_in_.end() ? 0u : in->second;
  };
  if (a.prefix != b.prefix) {
    const std::uint32_t at_a = busy(a), at_b = busy(b);
    if (at_a != at_b) return at_a < at_b;
  }
  if (a.from_tracker != b.from_tracker) return a.from_tracker;
  return a.turn < b.turn;
}

// Between equals each peer has an order of its own: if all went by address or by time, all would
// call the same few, which take no more, and the mesh would hang together badly. FNV-1a.
std::uint64_t PeerBook::turn_of(const std::string& key) const {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const std::uint8_t byte : self_.bytes) mix(byte);
  for (const char c : key) mix(static_cast<std::uint8_t>(c));
  return hash;
}

std::optional<PeerBook::Call> PeerBook::next_call(TimeUs now) {
  if (now < quiet_until_) return std::nullopt;
  Entry* best = nullptr;
  const std::string* best_key = nullptr;
  for (auto& [key, entry] : entries_) {
    if (due_of(entry) > now || !may_be_called(entry, now)) continue;
    if (best && !before(entry, *best)) continue;
    best = &entry;
    best_key = &key;
  }
  if (!best) {
    quiet_until_ = earliest();
    return std::nullopt;
  }
  take_up(*best, true);
  best->calling = best->tried = true;
  best->called_at = now;
  if (!best->by_hand) pacing_.called(best->address.host, now);
  attempts_[next_attempt_] = *best_key;
  return Call{next_attempt_++, best->address};
}

TimeUs PeerBook::earliest() const {
  TimeUs due = kNever;
  for (const auto& [key, entry] : entries_) {
    if (!may_be_called(entry)) continue;
    TimeUs at = due_of(entry);
    if (entry.address.id) {
      const auto it = strikes_.find(*entry.address.id);
      if (it != strikes_.end()) at = std::max(at, it->second.until);
    }
    due = std::min(due, at);
  }
  return due;
}

// An address that a person gave is called as often as that person wants.
TimeUs PeerBook::due_of(const Entry& entry) const {
  return entry.by_hand ? entry.due
                       : std::max(entry.due, pacing_.next(entry.address.host, entry.due));
}

std::size_t PeerBook::promising(TimeUs now, std::size_t most) const {
  std::size_t count = 0;
  for (auto it = entries_.begin(); it != entries_.end() && count < most; ++it) {
    const Entry& entry = it->second;
    if (entry.failures == 0 && due_of(entry) <= now && may_be_called(entry, now)) ++count;
  }
  return count;
}

bool PeerBook::has_untried(TimeUs now) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& one) {
    const Entry& entry = one.second;
    return !entry.tried && due_of(entry) <= now && may_be_called(entry, now);
  });
}

void PeerBook::retry_later(Entry& entry, TimeUs now) {
  quiet_until_ = 0;
  ++entry.failures;
  take_up(entry, false);
  entry.calling = false;
  const std::uint32_t doublings = std::min(entry.failures - 1, 10u);
  entry.due = now + std::min(kCallAgainFirst << doublings, kCallAgainMax);
}

std::string PeerBook::opened(std::uint64_t attempt, const PeerId& id) {
  std::set<std::string>& at = known_[id];
  const auto it = attempts_.find(attempt);
  if (it == attempts_.end()) return {};
  at.insert(it->second);
  std::string learnt;
  if (const auto entry = entries_.find(it->second); entry != entries_.end()) {
    entry->second.calling = false;
    if (!entry->second.by_hand) pacing_.answered(entry->second.address.host);
    quiet_until_ = 0;  // others may be there
    if (!entry->second.address.id) {
      learnt = to_text(entry->second.address);
      entry->second.address.id = id;
    }
  }
  attempts_.erase(it);
  return learnt;
}

std::vector<PeerBook::Entry*> PeerBook::entries_of(const PeerId& id) {
  std::vector<Entry*> found;
  const auto it = known_.find(id);
  if (it == known_.end()) return found;
  for (const std::string& key : it->second) {
    const auto entry = entries_.find(key);
    if (entry != entries_.end()) found.push_back(&entry->second);
  }
  return found;
}

void PeerBook::welcomed(const PeerId& id) {
  for (Entry* entry : entries_of(id)) entry->failures = 0;
}

void PeerBook::answers_at(const PeerId& id, const Address& address, TimeUs now) {
  const auto it = known_.find(id);
  if (it == known_.end()) return;
  add(address, false, now);
  Entry there;
  there.address = address;
  const std::string key = key_of(there);
  const auto entry = entries_.find(key);
  if (entry != entries_.end() && entry->second.address.id == id) it->second.insert(key);
}

void PeerBook::Entry::note(const std::string& why) {
  error = why.empty() ? "closed" : kept_error(why);
}

std::vector<AddressStanding> PeerBook::standings(std::size_t count_max) const {
  std::vector<const Entry*> shown;
  for (const auto& [key, entry] : entries_) {
    const bool connected = entry.busy && !entry.calling;
    if (!connected && (!entry.address.id || !known_.contains(*entry.address.id)))
      shown.push_back(&entry);
  }
  std::stable_sort(shown.begin(), shown.end(), [](const Entry* a, const Entry* b) {
    if (a->by_hand != b->by_hand) return a->by_hand;
    if (a->calling != b->calling) return a->calling;
    return !a->error.empty() && b->error.empty();
  });
  if (shown.size() > count_max) shown.resize(count_max);
  std::vector<AddressStanding> result;
  result.reserve(shown.size());
  for (const Entry* entry : shown)
    result.push_back(
        {entry->address, entry->by_hand, entry->calling, entry->called_at, entry->error});
  if (own_by_hand_ && result.size() < count_max)
    result.push_back({*own_by_hand_, true, false, 0, kOwnIdentity});
  return result;
}

void PeerBook::failed(std::uint64_t attempt, bool wrong_identity, TimeUs now,
                      const std::string& why) {
  const auto it = attempts_.find(attempt);
  if (it == attempts_.end()) return;
  const auto entry = entries_.find(it->second);
  attempts_.erase(it);
  quiet_until_ = 0;
  if (entry == entries_.end()) return;
  retry_later(entry->second, now);
  entry->second.note(why);
  if (entry->second.by_hand) return;
  if (wrong_identity || entry->second.failures > kFailuresMax) erase(std::string(entry->first));
}

// It may be about to: a daemon that has just started, or a person that shares it a moment later.
PeerBook::Unserved PeerBook::unserved(const PeerId& id, const std::string& why) {
  Unserved unserved{kUselessTime, true};
  for (const Entry* entry : entries_of(id)) {
    const TimeUs told = kRefusedTime << std::min(entry->failures, 10u);
    // An address that a person gave is called as after any failure.
    unserved.rest = std::min(unserved.rest, entry->by_hand ? 0 : told);
    if (entry->error == kept_error(why)) unserved.news = false;
  }
  return unserved;
}

void PeerBook::closed(const PeerId& id, TimeUs rest, TimeUs now, const std::string& why) {
  for (Entry* entry : entries_of(id)) {
    retry_later(*entry, now);
    entry->note(why);
    entry->due = std::max(entry->due, now + rest);
  }
  if (known_.erase(id) > 0) quiet_until_ = 0;
}

void PeerBook::call_all_again(TimeUs now) {
  for (auto& [key, entry] : entries_)
    if (entry.failures <= kFailuresMax / 2) entry.due = std::min(entry.due, now);
  quiet_until_ = 0;
}

TimeUs ban_time(std::uint32_t strikes) {
  return kBanTimes[std::min<std::size_t>(strikes, std::size(kBanTimes)) - 1];
}

std::uint32_t PeerBook::strike(const PeerId& id, TimeUs now, std::uint32_t at_least,
                               const std::string& why) {
  if (strikes_.size() >= kStrikesMax && !strikes_.contains(id)) {
    strikes_.erase(std::min_element(strikes_.begin(), strikes_.end(), [](auto& a, auto& b) {
      return a.second.until < b.second.until;
    }));
  }
  Strikes& strikes = strikes_[id];
  // What comes to light while it is banned belongs to the same offence.
  if (now < strikes.until) return strikes.count;
  strikes.count = std::max(strikes.count + 1, at_least);
  strikes.until = now + ban_time(strikes.count);
  strikes.why = why;
  quiet_until_ = 0;
  return strikes.count;
}

std::vector<Ban> PeerBook::bans(TimeUs now, std::size_t count_max) const {
  std::vector<Ban> bans;
  for (const auto& [id, strikes] : strikes_)
    if (now < strikes.until)
      bans.push_back({id, {}, strikes.count, strikes.until - now, strikes.why});
  std::ranges::sort(bans, std::ranges::greater(), &Ban::left);
  bans.resize(std::min(bans.size(), count_max));
  return bans;
}

bool PeerBook::banned(const PeerId& id, TimeUs now) const {
  const auto it = strikes_.find(id);
  return it != strikes_.end() && now < it->second.until;
}

void PeerBook::acquit(const PeerId& id) {
  if (strikes_.erase(id) > 0) quiet_until_ = 0;
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
