// A content small enough to check every byte of, with the shape of a large one: blocks carry few
// real bytes, and the network charges for `charged_block_bytes`. Its manifest is a real one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/random.h"
#include "proto/base/digest.h"
#include "proto/base/signature.h"
#include "proto/content/authority.h"
#include "proto/content/content_layout.h"
#include "proto/content/manifest.h"

namespace firn::sim {

struct Content {
  // One file that fills `generations`.
  Content(std::uint32_t generations, std::uint32_t generation_size, std::uint32_t block_bytes,
          std::uint64_t seed, bool authority = true)
      : Content(
            std::vector<std::uint64_t>{std::uint64_t{generations} * generation_size * block_bytes},
            generation_size, block_bytes, seed, authority) {}

  // Files of these sizes: those of a generation or more leave the one before them short.
  Content(const std::vector<std::uint64_t>& file_bytes, std::uint32_t generation_size,
          std::uint32_t block_bytes, std::uint64_t seed, bool authority = true) {
    Info info;
    if (authority) info.authority_key = public_key_of(authority_secret()).value();
    info.shape = {generation_size, block_bytes, 0};
    info.name = "content";
    info.single_file = file_bytes.size() == 1;
    for (const std::uint64_t size : file_bytes) {
      const std::string path = info.single_file ? "" : "file" + std::to_string(info.files.size());
      info.files.push_back({.path = path, .bytes = size});
      info.shape.content_bytes += size;
    }
    lay_out(info);
    manifest.info.shape = info.shape;
    bytes.resize(info.shape.generation_count() * info.shape.generation_bytes());
    codec::CoefficientStream random(seed, 0x636f6e74);
    random.fill(bytes);
    for (std::uint32_t g = 0; g < info.shape.generation_count(); ++g) {
      info.generation_digests.push_back(generation_digest(generation(g), block_bytes));
    }
    auto made = make_manifest(info, {});
    FIRN_CHECK(made.ok());
    manifest = *std::move(made);
  }
  // Empty where the content has no authority.
  std::string certificate_of(const PeerId& peer) const {
    if (manifest.info.authority_key.empty()) return {};
    return make_certificate(manifest.id, peer, authority_secret()).value();
  }
  static std::span<const std::uint8_t> authority_secret() {
    static const std::vector<std::uint8_t> secret(kSigningKeyBytes, 7);
    return secret;
  }
  std::span<const std::uint8_t> generation(std::uint32_t g) const {
    const Shape& shape = manifest.info.shape;
    return std::span(bytes).subspan(g * shape.generation_bytes(), shape.padded_bytes(g));
  }

  std::vector<std::uint8_t> bytes;  // by position; what pads a block is any bytes
  Manifest manifest;
  std::uint32_t charged_block_bytes = 16384;
};

}  // namespace firn::sim
