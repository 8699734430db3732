// A manifest of several parts, and neighbours that send it.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "proto/base/limits.h"
#include "tests/core/fixture.h"

namespace firn::test {

// A real manifest of several parts: many generation digests.
inline Manifest large_manifest() {
  Info info;
  info.name = "file";
  info.single_file = true;
  info.shape = {1, 1, 12'000};
  info.files = {{.path = "", .bytes = info.shape.content_bytes}};
  info.generation_digests.resize(info.shape.generation_count());
  for (std::uint32_t g = 0; g < info.shape.generation_count(); ++g) {
    info.generation_digests[g].bytes[g % 32] = static_cast<std::uint8_t>(g);
  }
  auto manifest = make_manifest(info, {});
  REQUIRE(manifest.ok());
  REQUIRE(manifest.value().file_bytes.size() > limits::kManifestPartBytes);
  return *std::move(manifest);
}

inline proto::ManifestPart part_of(const std::string& file, std::uint64_t offset,
                                   std::size_t bytes = limits::kManifestPartBytes) {
  return {file.size(), offset, file.substr(offset, bytes)};
}

// Answers requests at `peer` until there are none; returns how many there were.
inline int serve(Fixture& fixture, PeerKey peer, const std::string& file) {
  int served = 0;
  for (auto asked = fixture.heard<proto::ManifestRequest>(peer); !asked.empty();
       asked = fixture.heard<proto::ManifestRequest>(peer)) {
    REQUIRE(asked.size() == 1);
    ++served;
    fixture.say(peer, part_of(file, asked.front().offset));
  }
  return served;
}

inline core::Options with_two_trackers() {
  core::Options options = plain_options();
  options.trackers = {Address{std::nullopt, "tracker", 1}, Address{std::nullopt, "second", 1}};
  return options;
}

}  // namespace firn::test
