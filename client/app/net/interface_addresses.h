// The addresses of this machine.
#pragma once

#include <string>
#include <vector>

namespace firn::app {

struct InterfaceAddress {
  std::string ip;  // numeric, without a zone
  bool loopback = false;
  bool link_local = false;  // it means nothing without a zone, and zones nothing elsewhere
};

// Of the interfaces that are up and have a link.
std::vector<InterfaceAddress> interface_addresses();

// Whether one of them is of a private range.
bool in_private_range(const std::vector<InterfaceAddress>& interfaces);

}  // namespace firn::app
