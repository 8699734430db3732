// Claims about blocks, as the input of a fuzzer chooses them. Most are signed.
#pragma once

#include <array>
#include <cstdint>

#include "client/core/types.h"
#include "proto/block_claim.h"
#include "proto/content/manifest.h"
#include "tests/fuzz/fuzz_bytes.h"

namespace firn::fuzz {

class ClaimInputs {
 public:
  ClaimInputs(FuzzBytes& in, const Manifest& manifest) : in_(in), manifest_(manifest) {}

  proto::FalseClaim about(std::uint32_t g, bool systematic) {
    const Shape& shape = manifest_.info.shape;
    const std::uint32_t n =
        g < shape.generation_count() ? shape.blocks_in(g) : shape.generation_size;
    proto::Block block;
    block.generation = g;
    if (systematic) {
      block.source_index = in_.below(n + 1);
    } else {
      block.coefficients = in_.bytes(in_.below(8) == 0 ? n + 1 : n);
    }
    block.payload = proto::Payload::allocate(1);
    block.payload.writable()[0] = in_.byte();
    // Signing takes longer than all else here.
    std::array<std::uint8_t, kSigningKeyBytes> secret{};
    secret[0] = static_cast<std::uint8_t>(in_.below(4));
    const Claimant by{manifest_.id, *PublicKey::from_bytes(*public_key_of(secret)), secret};
    proto::FalseClaim claim{g, block.source_index, block.coefficients, make_claim(block, by)};
    if (in_.below(8) == 0) claim.claim.signature[in_.below(64)] ^= 1;
    return claim;
  }

 private:
  FuzzBytes& in_;
  const Manifest& manifest_;
};

}  // namespace firn::fuzz
