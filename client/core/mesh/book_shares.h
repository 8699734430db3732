// Decides which address is evicted from a full address book. Each source of addresses (tracker,
// prefix of a neighbour) has a share of the book, and each prefix a share of what its source has
// named: so neither a neighbour nor a prefix can fill the book. Of a source's addresses a sample is
// kept, which does not depend on their order and differs from peer to peer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace firn::core::policy {

struct KeptAddress {
  const std::string* source;  // that named it
  const std::string* prefix;
  std::uint64_t turn;      // lower ones are kept
  std::uint32_t failures;  // calls in vain
};

// The index of the one that gives way; nullopt: the newcomer is not kept.
std::optional<std::size_t> gives_way(const std::vector<KeptAddress>& kept,
                                     const KeptAddress& newcomer);

}  // namespace firn::core::policy
