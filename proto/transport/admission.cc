#include "proto/transport/admission.h"

#include <algorithm>
#include <utility>

#include "proto/base/address.h"

namespace firn::proto::transport {

Admission::Limits Admission::limits_for(std::size_t connection_count_max) {
  constexpr std::size_t kLeast = 16;
  return {.of_network = std::max(connection_count_max / 4, kLeast),
          .handshakes_of_network = std::max(connection_count_max / 16, kLeast),
          .handshakes = std::max(connection_count_max / 2, kLeast)};
}

std::optional<Admission::Place> Admission::enter(const std::string& ip) {
  std::string network = network_of(ip);
  const std::lock_guard lock(mutex_);
  if (handshakes_ >= limits_.handshakes) return std::nullopt;
  const auto found = networks_.find(network);
  if (found != networks_.end() && (found->second.connections >= limits_.of_network ||
                                   found->second.handshakes >= limits_.handshakes_of_network))
    return std::nullopt;
  Counts& counts = networks_[network];
  ++counts.connections;
  ++counts.handshakes;
  ++handshakes_;
  return Place(*this, std::move(network));
}

void Admission::handshake_done(const std::string& network) {
  const std::lock_guard lock(mutex_);
  --networks_.at(network).handshakes;
  --handshakes_;
}

void Admission::leave(const std::string& network, bool opened) {
  if (!opened) handshake_done(network);
  const std::lock_guard lock(mutex_);
  const auto found = networks_.find(network);
  if (--found->second.connections == 0) networks_.erase(found);
}

Admission::Place::Place(Place&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)),
      network_(std::move(other.network_)),
      opened_(other.opened_) {}

Admission::Place::~Place() {
  if (owner_ != nullptr) owner_->leave(network_, opened_);
}

void Admission::Place::opened() {
  if (std::exchange(opened_, true)) return;
  owner_->handshake_done(network_);
}

}  // namespace firn::proto::transport
