// The announce's reply that is written by hand, against the generated classes.
#include "proto/announce_reply_wire.h"

#include <doctest/doctest.h>

#include <random>

#include "proto/base/limits.h"

namespace firn::proto {
namespace {

PeerEndpoint endpoint_of(std::mt19937_64& random) {
  PeerEndpoint endpoint;
  for (std::uint8_t& byte : endpoint.id.bytes) byte = static_cast<std::uint8_t>(random());
  const bool v6 = random() % 2 == 0;
  endpoint.ip = v6 ? "2001:db8::" + std::to_string(1 + random() % 9000)
                   : "192.0.2." + std::to_string(random() % 256);
  constexpr std::uint16_t kPorts[] = {1, 127, 128, 16383, 16384, 65535};
  endpoint.port = kPorts[random() % std::size(kPorts)];
  return endpoint;
}

TEST_CASE("a written announce reply has the bytes that the generated classes make") {
  std::mt19937_64 random(7);
  constexpr std::uint32_t kNumbers[] = {0, 1, 127, 128, 50'000, 0xffffffff};
  for (const std::size_t count : {0u, 1u, 2u, 50u, 200u}) {
    for (int round = 0; round < 20; ++round) {
      AnnounceReply reply;
      reply.interval_seconds = kNumbers[random() % std::size(kNumbers)];
      reply.complete_count = kNumbers[random() % std::size(kNumbers)];
      reply.incomplete_count = kNumbers[random() % std::size(kNumbers)];
      reply.has_manifest = random() % 2 == 0;
      std::vector<PackedEndpoint> packed;
      for (std::size_t i = 0; i < count; ++i) {
        reply.peers.push_back(endpoint_of(random));
        packed.push_back(pack(reply.peers.back()).value());
        REQUIRE(unpack(packed.back()) == reply.peers.back());
      }
      const AnnounceSummary summary{reply.interval_seconds, reply.complete_count,
                                    reply.incomplete_count, reply.has_manifest};
      std::string bytes(announce_reply_bytes_max(count), '\0');
      bytes.resize(
          write_announce_reply(summary, packed, reinterpret_cast<std::uint8_t*>(bytes.data())));
      CHECK(bytes == serialize(TrackerReply(reply)).head);
    }
  }
}

TEST_CASE("what is no numeric address is not packed") {
  CHECK_FALSE(pack({PeerId{}, "tracker.example", 1}).has_value());
  CHECK_FALSE(pack({PeerId{}, "", 1}).has_value());
}

}  // namespace
}  // namespace firn::proto
