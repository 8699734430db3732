// The addresses under which other machines may reach this one, for links.
#pragma once

#include <string>
#include <vector>

#include "client/app/commands/options/options.h"
#include "client/app/net/interface_addresses.h"
#include "proto/base/address.h"

namespace firn::app {

// Where peers can reach the listener `bound` (its id and port) that was opened at the host
// `listen_host`: that host, or, where it stands for every address, those of `interfaces`, without
// link-local ones, and without loopback if there is another. As many as a link takes.
std::vector<Address> reachable_addresses(const std::string& listen_host, const Address& bound,
                                         const std::vector<InterfaceAddress>& interfaces);

// The addresses of this peer in a link; `listening`: where it accepts connections.
std::vector<Address> link_addresses(const NetworkOptions& network, const Address& listening);

// What to tell a person whose link names these trackers and peers, if none of them is reached from
// everywhere; else empty. A name is taken for one that is, but for localhost.
std::string reach_warning(const std::vector<Address>& trackers, const std::vector<Address>& peers);

}  // namespace firn::app
