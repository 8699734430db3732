// Where simulated peers are: each in a network of its own, as strangers of the Internet mostly are.
// Their port is their index plus one.
#pragma once

#include <cstddef>
#include <string>

namespace firn::sim {

inline std::string address_of(std::size_t peer) {
  return "10." + std::to_string(peer / 256 % 256) + "." + std::to_string(peer % 256) + ".1";
}

}  // namespace firn::sim
