// What the tracker's tests share: ids from numbers, peers, manifests, folders.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "proto/base/signing_key.h"
#include "proto/content/manifest.h"
#include "tests/proto/sample_manifest.h"
#include "tracker/registry.h"

namespace firn::tracker::test {

template <typename AnyId>
AnyId id_of(std::uint32_t number) {
  AnyId id;
  for (int i = 0; i < 4; ++i) id.bytes[i] = static_cast<std::uint8_t>(number >> 8 * i);
  return id;
}
inline ContentId content(std::uint32_t number) {
  return id_of<ContentId>(number);
}
inline PeerId peer_id(std::uint32_t number) {
  return id_of<PeerId>(number);
}

// Peer `number` at an address of its own.
inline Peer peer(std::uint32_t number, bool complete = false) {
  const std::string ip =
      "10.0." + std::to_string(number / 256 % 256) + "." + std::to_string(number % 256);
  return {{peer_id(number), ip, static_cast<std::uint16_t>(1000 + number % 60'000)}, complete};
}

// Of the secret that is `fill` throughout.
inline SigningKey key(std::uint8_t fill) {
  std::array<std::uint8_t, kSigningKeyBytes> secret{};
  secret.fill(fill);
  return SigningKey{SigningKey::Secret(secret)};
}

// A manifest of about 32 bytes for each generation; `name` makes it another content.
inline Manifest manifest(std::uint32_t generations, const std::string& name = "file") {
  Info info = firn::test::info_of_shape(1, 1, generations);
  info.name = name;
  return make_manifest(info, {}).value();
}

struct TemporaryFolder {
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "firn-tracker-XXXXXX";
    path = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  std::filesystem::path path;
};

}  // namespace firn::tracker::test
