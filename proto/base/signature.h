// Ed25519 signatures (RFC 8032). Keys are raw: 32 secret bytes, 32 public ones; a signature has 64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace firn {

inline constexpr std::size_t kSigningKeyBytes = 32;  // secret and public alike
inline constexpr std::size_t kSignatureBytes = 64;

// The public key of a secret one; nullopt if it does not have 32 bytes.
std::optional<std::string> public_key_of(std::span<const std::uint8_t> secret_key);

// nullopt if the key does not have 32 bytes.
std::optional<std::string> sign(std::string_view message, std::span<const std::uint8_t> secret_key);

// False too for keys and signatures of the wrong size.
bool signed_by(std::string_view public_key, std::string_view message, std::string_view signature);

}  // namespace firn
