// The addresses under which other machines may reach this one: for links without a tracker.
#pragma once

#include <string>
#include <vector>

#include "client/app/commands/options.h"
#include "client/app/net/interface_addresses.h"
#include "proto/base/address.h"

namespace firn::app {

// Where peers can reach the listener `bound` (its id and port) that was opened at the host
// `listen_host`: that host, or, where it stands for every address, those of `interfaces`, without
// link-local ones, and without loopback if there is another. As many as a link takes.
std::vector<Address> reachable_addresses(const std::string& listen_host, const Address& bound,
                                         const std::vector<InterfaceAddress>& interfaces);

// The addresses of this peer in a link; `listening`: where it accepts connections. With a tracker
// only one that was given to be used, as the tracker tells where this peer is.
std::vector<Address> link_addresses(const NetworkOptions& network, const Address& listening,
                                    bool with_tracker);

}  // namespace firn::app
