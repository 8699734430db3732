// The key of a check set: 32 secret bytes from which maker and receiver of the set derive the same
// codec::CheckKey for every generation of a content. Maker or receiver draws it, the other gets it
// over TLS.
//
//   material   = AES-256-CTR (NIST SP 800-38A) key stream under the set key; for generation g the
//                first counter block is be64(g) || be64(0)
//
// OpenSSL underneath. Keys are wiped at the end and appear in no log. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "client/checks/hkdf.h"
#include "codec/check_key.h"
#include "codec/secret_memory.h"
#include "proto/base/ids.h"

namespace firn::checks {

class SetKey {
 public:
  // A fresh one, from the system's generator of secrets.
  static SetKey draw();
  // As the other side got it.
  explicit SetKey(SecretView bytes);
  ~SetKey();
  SetKey(const SetKey&) = default;
  SetKey& operator=(const SetKey&) = default;

  SecretView bytes() const { return bytes_; }

  // What the key of generation `generation` is made from: CheckKey::material_bytes(...) bytes.
  codec::SecretVector<std::uint8_t> material(std::uint64_t generation, std::size_t block_bytes,
                                             std::size_t tag_bytes) const;
  // block_bytes: k, at least 1; tag_bytes: CheckKey::valid_tag_bytes, checked where they are
  // parsed.
  codec::CheckKey generation_key(std::uint64_t generation, std::size_t block_bytes,
                                 std::size_t tag_bytes = codec::CheckKey::kTagBytes) const;

 private:
  SetKey() = default;
  std::array<std::uint8_t, kSecretBytes> bytes_{};
};

}  // namespace firn::checks
