// The frame of an AnnounceReply, written straight to where it goes out from: the tracker sends a
// hundred thousand of them a second. The bytes are those of serialize(TrackerReply), which a test
// compares; tracker.proto has the fields.
//
//   length, 4 bytes | tag of `announce`, its length | interval, counts, has_manifest | peers
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/packed_endpoint.h"

namespace firn::proto {

struct AnnounceSummary {
  std::uint32_t interval_seconds = 0;
  std::uint32_t complete_count = 0;
  std::uint32_t incomplete_count = 0;
  bool has_manifest = false;
};

// As much as a frame with `peers` peers may take.
constexpr std::size_t announce_reply_bytes_max(std::size_t peers) {
  return 48 + 64 * peers;
}

// Writes a whole frame and returns its bytes, at most announce_reply_bytes_max(peers.size()).
// `peers`: at most limits::kAnnouncePeersMax.
std::size_t write_announce_reply(const AnnounceSummary& summary,
                                 std::span<const PackedEndpoint> peers, std::uint8_t* out);

}  // namespace firn::proto
