// Keeps what the contents' cores know of this machine's link up to date.
#pragma once

#include <cstdint>

#include "client/app/net/interface_addresses.h"
#include "client/core/base/types.h"

namespace firn::app {

// Main thread.
class OwnLink {
 public:
  // The cores hold on to it.
  const core::LinkFacts& facts() const { return facts_; }

  // Once a turn. `times_on_way`: as the transport has measured it.
  void look(std::uint32_t times_on_way, core::TimeUs now) {
    facts_.times_on_way = times_on_way;
    if (now < addresses_due_) return;
    facts_.in_private_range = in_private_range(interface_addresses());
    addresses_due_ = now + kAddressesEvery;
  }

 private:
  // Machines move between networks.
  static constexpr core::TimeUs kAddressesEvery = 60 * core::kSecond;

  core::LinkFacts facts_;
  core::TimeUs addresses_due_ = 0;
};

}  // namespace firn::app
