#include "proto/transport/admission.h"

#include <algorithm>

#include "proto/base/address.h"
#include "proto/base/result.h"

namespace firn::proto::transport {

Admission::Limits Admission::limits_for(std::size_t connection_count_max) {
  constexpr std::size_t kLeast = 16;
  return {.of_network = std::max(connection_count_max / 4, kLeast),
          .unproven_of_network = std::max(connection_count_max / 16, kLeast),
          .unproven = std::max(connection_count_max / 2, kLeast)};
}

Admission::Answer Admission::enter(const std::string& ip, Id id, bool full, std::uint64_t now_ms) {
  const Held newcomer{prefix_of(ip), network_of(ip), now_ms};
  const std::lock_guard lock(mutex_);
  std::optional<Id> victim;
  const Network* own = find(newcomer.prefix, newcomer.network);
  if (own != nullptr && (own->connections >= limits_.of_network ||
                         own->unproven.size() >= limits_.unproven_of_network)) {
    victim = oldest(*own, false, now_ms);
    if (!victim) return {};
  } else if (full || unproven_ >= limits_.unproven) {
    if (unproven_ == 0) return {};
    bool larger = false;
    const Network& most = largest(newcomer, larger);
    victim = oldest(most, larger, now_ms);
    if (!victim) return {};
  }
  if (victim) erase(*victim);
  ++prefixes_[newcomer.prefix].networks[newcomer.network].connections;
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

std::optional<Admission::Id> Admission::oldest(const Network& network, bool of_any_age,
                                               std::uint64_t now_ms) {
  if (network.unproven.empty()) return std::nullopt;
  const auto& [since_ms, id] = *network.unproven.begin();
  if (of_any_age || now_ms >= since_ms + kProofMs) return id;
  return std::nullopt;
}

bool Admission::has_stale(std::uint64_t now_ms) const {
  const std::lock_guard lock(mutex_);
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
  if (held != held_.end()) stop_waiting(id, held->second);
}

void Admission::leave(Id id) {
  const std::lock_guard lock(mutex_);
  erase(id);
}

// Does nothing for a connection that has given way.
void Admission::erase(Id id) {
  const auto held = held_.find(id);
  if (held == held_.end()) return;
  stop_waiting(id, held->second);
  const auto prefix = prefixes_.find(held->second.prefix);
  const auto network = prefix->second.networks.find(held->second.network);
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
