// A peer of a large mesh whose content has an authority.
#pragma once

#include <cstdint>
#include <utility>

#include "tests/core/fixture.h"

namespace firn::test {

inline core::Options large_mesh_options(core::Options options = plain_options()) {
  options.trackers = {Address{std::nullopt, "tracker", 1}};
  return options;
}

// What a tracker says that knows of so many peers.
inline proto::AnnounceReply told_of(std::uint32_t peers) {
  proto::AnnounceReply reply;
  reply.interval_seconds = 1800;
  reply.incomplete_count = peers;
  return reply;
}

struct LargeMeshFixture : Fixture {
  static constexpr std::uint32_t kGenerations = 4, kBlocks = 4;

  explicit LargeMeshFixture(core::Options options = large_mesh_options())
      : Fixture(vouched_manifest(kGenerations, kBlocks, 8192), std::move(options)) {}

  void begin(bool complete = false) {
    start(complete);
    core.tracker_replied(0, told_of(100), now);
    drain();
  }
};

}  // namespace firn::test
