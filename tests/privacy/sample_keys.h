// The secret, content and session of the tests' vectors, which docs/protocol.md shows.
#pragma once

#include <array>

#include "client/privacy/private_keys.h"

namespace firn::privacy::test {

inline ContentId sample_content() {
  ContentId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(i * 5);
  return id;
}

inline ContentSecret sample_secret() {
  std::array<std::uint8_t, ContentSecret::kBytes> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  return ContentSecret{ContentSecret::View(bytes)};
}

inline PrivateKeys sample_keys() {
  return {sample_secret(), sample_content()};
}

}  // namespace firn::privacy::test
