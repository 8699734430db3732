#include "proto/transport/admission.h"

#include <algorithm>

#include "proto/base/address.h"
#include "proto/base/result.h"

namespace firn::proto::transport {

Admission::Limits Admission::limits_for(std::size_t connection_count_max, bool exchanges_proven) {
  constexpr std::size_t kLeast = 16;
  return {.of_network = std::max(connection_count_max / 4, kLeast),
          .unproven_of_network = std::max(connection_count_max / 16, kLeast),
          .unproven = std::max(connection_count_max / 2, kLeast),
          .exchanges_proven = exchanges_proven};
}

Admission::Answer Admission::enter(const std::string& ip, Id id, bool full, std::uint64_t now_ms) {
  const Held newcomer{prefix_of(ip), network_of(ip), now_ms};
  const std::lock_guard lock(mutex_);
  std::optional<Id> victim;
  const Network* own = find(newcomer.prefix, newcomer.network);
  if (own != nullptr && (own->connections >= limits_.of_network ||
                         own->unproven.size() >= limits_.unproven_of_network)) {
    victim = oldest(own->unproven, false, now_ms);
    if (!victim && limits_.exchanges_proven && own->connections >= limits_.of_network)
      victim = oldest(own->proven, false, now_ms);
    if (!victim) return {};
  } else if (full || unproven_ >= limits_.unproven) {
    const bool exchanges = full && limits_.exchanges_proven;
    victim = unproven_for(newcomer, !exchanges);
    if (!victim && exchanges) victim = proven_for(newcomer);
    if (!victim && exchanges) victim = unproven_for(newcomer, true);
    if (!victim) return {};
  }
  if (victim) erase(*victim);
  count(newcomer.prefix, +1);
  ++prefixes_.at(newcomer.prefix).networks[newcomer.network].connections;
  held_.emplace(id, newcomer);
  wait(id, newcomer);
  return {Place(*this, id), victim};
}

// Null: it has no connection.
const Admission::Network* Admission::find(const std::string& prefix,
                                          const std::string& network) const {
  const auto around = prefixes_.find(prefix);
  if (around == prefixes_.end()) return nullptr;
  const auto found = around->second.networks.find(network);
  return found == around->second.networks.end() ? nullptr : &found->second;
}

// The network with most unproven connections in the prefix with most; of equals that of the oldest.
// `larger`: it would still have more than the newcomer's if the newcomer took one of its places.
const Admission::Network& Admission::largest(const Held& newcomer, bool& larger) const {
  const auto smaller = [](const auto& a, const auto& b) {
    const Waiting &in_a = a.second.unproven, &in_b = b.second.unproven;
    if (in_a.size() != in_b.size()) return in_a.size() < in_b.size();
    return !in_a.empty() && *in_b.begin() < *in_a.begin();
  };
  const auto prefix = std::max_element(prefixes_.begin(), prefixes_.end(), smaller);
  const auto& networks = prefix->second.networks;
  const auto network = std::max_element(networks.begin(), networks.end(), smaller);
  const auto held = [](const auto& in, const std::string& name) {
    const auto own = in.find(name);
    return own == in.end() ? 0 : own->second.unproven.size();
  };
  larger = prefix->first == newcomer.prefix
               ? held(networks, newcomer.network) + 1 < network->second.unproven.size()
               : held(prefixes_, newcomer.prefix) + 1 < prefix->second.unproven.size();
  return network->second;
}

std::optional<Admission::Id> Admission::unproven_for(const Held& newcomer, bool of_any_age) const {
  if (unproven_ == 0) return std::nullopt;
  bool larger = false;
  const Network& most = largest(newcomer, larger);
  return oldest(most.unproven, larger && of_any_age, newcomer.since_ms);
}

// Of the prefixes that hold most one that the newcomer's would still hold less than; else its own,
// and there likewise by networks.
std::optional<Admission::Id> Admission::proven_for(const Held& newcomer) const {
  const auto own = prefixes_.find(newcomer.prefix);
  const std::size_t held = own == prefixes_.end() ? 0 : own->second.connections;
  if (const auto id = proven_of_most(held + 1, newcomer.prefix, newcomer.since_ms)) return id;
  if (own == prefixes_.end()) return std::nullopt;
  const Network& largest = most_proven(own->second);
  const Network* same = find(newcomer.prefix, newcomer.network);
  const bool larger = same == nullptr || same->connections + 1 < largest.proven.size();
  return oldest((larger ? largest : *same).proven, false, newcomer.since_ms);
}

// Of the first of those kMostLooked prefixes with most connections, more than `above`, in which one
// has had its time: where a prefix comes anew all the time, it is the next one's turn.
std::optional<Admission::Id> Admission::proven_of_most(std::size_t above, const std::string& except,
                                                       std::uint64_t now_ms) const {
  std::size_t looked = 0;
  for (auto most = by_connections_.rbegin();
       most != by_connections_.rend() && most->first > above && looked < kMostLooked;
       ++most, ++looked) {
    if (most->second == except) continue;
    if (const auto id = oldest(most_proven(prefixes_.at(most->second)).proven, false, now_ms))
      return id;
  }
  return std::nullopt;
}

const Admission::Network& Admission::most_proven(const Prefix& prefix) {
  const auto fewer = [](const auto& a, const auto& b) {
    return a.second.proven.size() < b.second.proven.size();
  };
  return std::max_element(prefix.networks.begin(), prefix.networks.end(), fewer)->second;
}

std::optional<Admission::Id> Admission::oldest(const Waiting& waiting, bool of_any_age,
                                               std::uint64_t now_ms) {
  if (waiting.empty()) return std::nullopt;
  const auto& [since_ms, id] = *waiting.begin();
  if (of_any_age || now_ms >= since_ms + kProofMs) return id;
  return std::nullopt;
}

bool Admission::may_exchange(std::uint64_t now_ms) const {
  const std::lock_guard lock(mutex_);
  if (limits_.exchanges_proven && proven_of_most(1, {}, now_ms)) return true;
  return std::any_of(prefixes_.begin(), prefixes_.end(), [now_ms](const auto& prefix) {
    const Waiting& unproven = prefix.second.unproven;
    return !unproven.empty() && now_ms >= unproven.begin()->first + kProofMs;
  });
}

void Admission::wait(Id id, const Held& held) {
  Prefix& prefix = prefixes_.at(held.prefix);
  prefix.unproven.emplace(held.since_ms, id);
  prefix.networks.at(held.network).unproven.emplace(held.since_ms, id);
  ++unproven_;
}

// False: it was proven.
bool Admission::stop_waiting(Id id, const Held& held) {
  Prefix& prefix = prefixes_.at(held.prefix);
  if (prefix.unproven.erase({held.since_ms, id}) == 0) return false;
  prefix.networks.at(held.network).unproven.erase({held.since_ms, id});
  --unproven_;
  return true;
}

void Admission::restart(Id id, std::uint64_t now_ms) {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(id);
  if (held == held_.end() || !stop_waiting(id, held->second)) return;
  held->second.since_ms = now_ms;
  wait(id, held->second);
}

void Admission::prove(Id id) {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(id);
  if (held == held_.end() || !stop_waiting(id, held->second)) return;
  const auto& [prefix, network, since_ms] = held->second;
  prefixes_.at(prefix).networks.at(network).proven.emplace(since_ms, id);
}

// A connection of the prefix has come or gone.
void Admission::count(const std::string& prefix, int change) {
  std::size_t& connections = prefixes_[prefix].connections;
  auto node = connections > 0 ? by_connections_.extract({connections, prefix})
                              : decltype(by_connections_)::node_type();
  connections += static_cast<std::size_t>(change);
  if (connections == 0) return;
  if (node.empty()) {
    by_connections_.emplace(connections, prefix);
  } else {
    node.value().first = connections;
    by_connections_.insert(std::move(node));
  }
}

void Admission::leave(Id id) {
  const std::lock_guard lock(mutex_);
  erase(id);
}

// Does nothing for a connection that has given way.
void Admission::erase(Id id) {
  const auto held = held_.find(id);
  if (held == held_.end()) return;
  count(held->second.prefix, -1);
  const auto prefix = prefixes_.find(held->second.prefix);
  const auto network = prefix->second.networks.find(held->second.network);
  if (!stop_waiting(id, held->second)) network->second.proven.erase({held->second.since_ms, id});
  held_.erase(held);
  if (--network->second.connections > 0) return;
  prefix->second.networks.erase(network);
  if (prefix->second.networks.empty()) prefixes_.erase(prefix);
}

Admission::Place::~Place() {
  if (owner_ != nullptr) owner_->leave(id_);
}

void Admission::Place::opened(std::uint64_t now_ms) {
  owner_->restart(id_, now_ms);
}

void Admission::Place::proven() {
  if (!std::exchange(proven_, true)) owner_->prove(id_);
}

}  // namespace firn::proto::transport
