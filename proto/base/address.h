// Where a peer or tracker is: `[ID@]HOST:PORT`, IPv6 in brackets. A given ID is enforced when
// connecting; without one the first key seen is accepted, reported and kept. People may leave the
// port out (options, links); it is always written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/base/ids.h"
#include "proto/base/result.h"

namespace firn {

// Where trackers listen unless they are told otherwise, and what an address without a port means.
inline constexpr std::uint16_t kDefaultPort = 4711;

struct Address {
  std::optional<PeerId> id;
  std::string host;        // name or numeric address, no brackets
  std::uint16_t port = 0;  // 0 only where listening ("any port")

  auto operator<=>(const Address&) const = default;
};

// Numeric addresses are kept as written. An address without ":PORT" gets `default_port`; it is an
// error if there is none. Errors: kBadInput with what is wrong and an example of the right form.
Result<Address> parse_address(std::string_view text,
                              std::optional<std::uint16_t> default_port = std::nullopt);
std::string to_text(const Address& address);

// Whether one can connect to it: it names a host and a port. (To listen, "", "*" and port 0 do.)
bool is_destination(const Address& address);

// The part of a numeric address that one party is likely to own: an IPv4 address, an IPv6 /64. A
// name for maps; not for people.
std::string network_of(const std::string& ip);

// The part of it that one provider hands out, so that one party may own many networks there: an
// IPv4 /24, an IPv6 /48. Tables share their places among these when they are full. What is no
// numeric address is a prefix of its own. A name for maps; not for people.
std::string prefix_of(const std::string& ip);

}  // namespace firn
