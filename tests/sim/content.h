// A content small enough to check every byte of, with the shape of a large one: blocks carry few
// real bytes, and the network charges for `charged_block_bytes`. Its manifest is a real one.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "codec/random.h"
#include "proto/digest.h"
#include "proto/manifest.h"

namespace firn::sim {

struct Content {
  Content(std::uint32_t generations, std::uint32_t generation_size, std::uint32_t block_bytes,
          std::uint64_t seed)
      : bytes(std::size_t{generations} * generation_size * block_bytes) {
    codec::CoefficientStream random(seed, 0x636f6e74);
    random.fill(bytes);
    Info info;
    info.shape = {generation_size, block_bytes, bytes.size()};
    info.name = "content";
    info.single_file = true;
    info.files = {{.path = "", .bytes = bytes.size()}};
    manifest.info.shape = info.shape;
    for (std::uint32_t g = 0; g < generations; ++g) {
      info.generation_digests.push_back(generation_digest(generation(g), block_bytes));
    }
    auto made = make_manifest(info, {});
    FIRN_CHECK(made.ok());
    manifest = *std::move(made);
  }
  std::span<const std::uint8_t> generation(std::uint32_t g) const {
    const std::size_t size = manifest.info.shape.generation_bytes();
    return std::span(bytes).subspan(g * size, size);
  }

  std::vector<std::uint8_t> bytes;
  Manifest manifest;
  std::uint32_t charged_block_bytes = 16384;
};

}  // namespace firn::sim
