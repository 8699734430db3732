// SHA-256 and the Merkle trees over it: OpenSSL's EVP underneath, and the leaves of a generation
// sixteen at a time where the processor has AVX-512 (docs/lab/052-sixteen-leaves-at-once.md).
//   leaf  = SHA-256(0x00 || data)       node = SHA-256(0x01 || left || right)
// A tree over m leaves is split at the largest power of two below m (RFC 9162, section 2.1.1);
// the root of no leaves is SHA-256 of the empty string.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "proto/base/ids.h"

namespace firn {

Digest sha256(std::span<const std::uint8_t> data);

// The id of the peer that proves this key: SHA-256 of its 32 bytes.
PeerId peer_id_of(const PublicKey& key);

// SHA-256 of bytes that come in pieces. One thread at a time.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::uint8_t> data);
  // The digest of all pieces so far, after which the object begins anew.
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};
Digest merkle_leaf(std::span<const std::uint8_t> data);
// The leaf of each block. `data` is whole blocks of `block_bytes`. Any thread.
std::vector<Digest> merkle_leaves(std::span<const std::uint8_t> data, std::size_t block_bytes);
Digest merkle_root(std::span<const Digest> leaves);

// The digest of a generation: the root over its source blocks' leaves. `data` is whole blocks
// (Shape::padded_bytes), padding included. Any thread.
Digest generation_digest(std::span<const std::uint8_t> data, std::size_t block_bytes);

}  // namespace firn
