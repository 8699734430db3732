// What kinds of numeric addresses there are, by how far they reach, and which of them a stranger
// may name. An IPv4 address within an IPv6 one (mapped and compatible, RFC 4291; 6to4, RFC
// 3056; NAT64, RFC 6052 and 8215) is judged as that IPv4 address: a call to either ends at the same
// machine.
#pragma once

#include <string>

namespace firn {

enum class AddressKind {
  kGlobal,   // all that is none of the others
  kPrivate,  // RFC 1918 and 6598; fc00::/7, fec0::/10
  // 169.254.0.0/16, fe80::/10; what a provider's network answers at for its own machines alone:
  // 192.0.0.0/24 (RFC 6890; a cloud's metadata at 192.0.0.192), 168.63.129.16 (Azure's)
  kLinkLocal,
  kLoopback,     // 127.0.0.0/8, ::1
  kUnspecified,  // 0.0.0.0/8, ::
  kMulticast,    // 224.0.0.0/4 and what lies above it (reserved, broadcast); ff00::/8
};

// `ip`: numeric, without a zone; what is no address counts as kGlobal.
AddressKind address_kind(const std::string& ip);

// Whether `ip` may be called because somebody at `speaker` said so (both numeric): a stranger must
// not send this peer to services of its own machine or link. An address of a private range is
// called only by a machine that has one itself (`in_private_range`), any other special one only if
// the speaker's own is of that same kind.
bool may_be_named_by(const std::string& speaker, const std::string& ip, bool in_private_range);

}  // namespace firn
