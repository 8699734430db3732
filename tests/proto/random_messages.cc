#include "tests/proto/random_messages.h"

#include <algorithm>
#include <string>

#include "proto/base/limits.h"

namespace firn::test {

using namespace firn::proto;

std::uint32_t RandomMessages::any_size_u32() {
  return static_cast<std::uint32_t>(random_()) >> below(32);
}

std::vector<std::uint8_t> RandomMessages::bytes(std::size_t count) {
  std::vector<std::uint8_t> out(count);
  std::ranges::generate(out, [&] { return static_cast<std::uint8_t>(random_()); });
  return out;
}

std::string RandomMessages::text(std::size_t bytes_max) {
  static constexpr const char* kPieces[] = {"a", "firn", " ", "ü", "日", "\xf0\x9f\x8c\xb2"};
  std::string out;
  const std::size_t wanted = below(static_cast<std::uint32_t>(bytes_max) + 1);
  for (;;) {
    const std::string piece = kPieces[below(6)];
    if (out.size() + piece.size() > wanted) return out;
    out += piece;
  }
}

template <typename Id>
Id RandomMessages::id() {
  Id id;
  std::ranges::copy(bytes(kIdBytes), id.bytes.begin());
  return id;
}

PeerEndpoint RandomMessages::endpoint() {
  const auto part = [&] { return std::to_string(below(256)); };
  static constexpr const char* kV6[] = {"::1", "2001:db8::7", "fe80::1:2:3", "::"};
  return {.id = id<PeerId>(),
          .ip = coin() ? part() + "." + part() + "." + part() + "." + part() : kV6[below(4)],
          .port = static_cast<std::uint16_t>(1 + below(0xffff))};
}

State RandomMessages::state() {
  State state;
  state.acknowledged = any_size_u32();
  state.credit = any_size_u32();
  state.prefer_coded = coin();
  state.upload_kib = any_size_u32();
  state.neighbours = any_size_u32();
  state.proven_only = coin();
  state.trusted_only = coin();
  for (std::uint32_t i = below(3); i > 0; --i)
    state.convicted.push_back(std::uint64_t{random_()} << 32 | random_());
  for (std::uint32_t i = below(4); i > 0; --i) {
    const std::uint64_t prefix = coin() ? 0 : random_();
    state.received.push_back({prefix << 32 | random_(), any_size_u32()});
  }
  for (std::vector<Span>* spans :
       {&state.complete, &state.unwanted, &state.withdrawn, &state.fetching}) {
    for (std::uint32_t i = below(5); i > 0; --i) {
      const std::uint32_t first = below(limits::kGenerationCountMax);
      spans->push_back({first, 1 + below(limits::kGenerationCountMax - first)});
    }
  }
  for (std::uint32_t i = below(20); i > 0; --i)
    state.generations.push_back(
        {.generation = coin() ? below(200) : below(limits::kGenerationCountMax),
         .rank = below(limits::kGenerationSizeMax + 1),
         .quota = below(5),
         .null_vector = below(8) == 0 ? bytes(1 + below(200)) : std::vector<std::uint8_t>{},
         .wanted_blocks = i <= limits::kWantedBlocksMax && below(8) == 0
                              ? bytes(1 + below(64))
                              : std::vector<std::uint8_t>{},
         .urgency = below(kAwaited + 1)});
  for (GenerationState& one : state.generations) {
    if (!one.wanted_blocks.empty() && coin()) one.held_blocks = bytes(1 + below(64));
  }
  return state;
}

Block RandomMessages::block() {
  Block block;
  block.generation = coin() ? below(200) : below(limits::kGenerationCountMax);
  block.sequence = std::max(1u, any_size_u32());
  if (coin())
    block.source_index = coin() ? below(3) : below(limits::kGenerationSizeMax);
  else
    block.coefficients = bytes(1 + below(300));
  block.recoded = coin();
  block.unproven = coin();
  if (coin()) block.state = state();
  block.payload = Payload::copy_of(bytes(1 + below(20'000)));
  return block;
}

ManifestPart RandomMessages::manifest_part() {
  if (below(4) == 0) return {.total_bytes = 0, .offset = below(100), .data = ""};
  const auto data = bytes(1 + below(3000));
  const std::uint64_t offset = coin() ? 0 : below(limits::kManifestBytesMax - 10'000);
  return {.total_bytes = offset + data.size() + below(1000),
          .offset = offset,
          .data = {data.begin(), data.end()}};
}

CheckRequest RandomMessages::check_request() {
  CheckRequest request;
  for (std::uint32_t i = 1 + below(limits::kCheckGenerationsMax); i > 0; --i)
    request.generations.push_back(coin() ? below(200) : below(limits::kGenerationCountMax));
  request.key = bytes(coin() ? limits::kCheckKeyBytes : 0);
  return request;
}

CheckReply RandomMessages::check_reply() {
  static constexpr std::size_t kTagBytes[] = {0, 4, 8, 16};
  return {.generation = below(limits::kGenerationCountMax),
          .key = bytes(coin() ? limits::kCheckKeyBytes : 0),
          .sums = bytes((1 + below(100)) * kTagBytes[below(4)])};
}

LeafRequest RandomMessages::leaf_request() {
  LeafRequest request;
  for (std::uint32_t i = 1 + below(limits::kLeafGenerationsMax); i > 0; --i)
    request.generations.push_back(coin() ? below(200) : below(limits::kGenerationCountMax));
  return request;
}

LeafReply RandomMessages::leaf_reply() {
  LeafReply reply{.generation = below(limits::kGenerationCountMax), .leaves = {}};
  for (std::uint32_t i = coin() ? 0 : below(20); i > 0; --i) reply.leaves.push_back(id<Digest>());
  return reply;
}

PeerMessage RandomMessages::peer_message() {
  switch (below(kSentKinds)) {
    case 0: {
      Hello hello;
      hello.version_min = 1 + below(3);
      hello.version_max = hello.version_min + below(3);
      hello.content_id = id<ContentId>();
      hello.listen_port = static_cast<std::uint16_t>(below(0x10000));
      hello.agent = text(limits::kAgentBytesMax);
      hello.has_manifest = coin();
      const auto certificate = bytes(coin() ? limits::kCertificateBytes : 0);
      hello.certificate = {certificate.begin(), certificate.end()};
      return hello;
    }
    case 1:
      return state();
    case 2:
      return block();
    case 3:
      return ManifestRequest{below(limits::kManifestBytesMax + 1)};
    case 4:
      return manifest_part();
    case 5: {
      PeerExchange exchange;
      for (std::uint32_t i = below(limits::kPeerExchangeMax + 1); i > 0; --i)
        exchange.peers.push_back(endpoint());
      return exchange;
    }
    case 6:
      return check_request();
    case 7:
      return check_reply();
    case 8:
      return leaf_request();
    case 9:
      return leaf_reply();
    case 10: {
      PrivateProof proof;
      std::ranges::copy(bytes(proof.proof.size()), proof.proof.begin());
      return proof;
    }
    default:
      return Goodbye{static_cast<GoodbyeReason>(below(10)), text(limits::kReasonBytesMax)};
  }
}

std::optional<PublicKey> RandomMessages::signer() {
  return coin() ? std::optional(id<PublicKey>()) : std::nullopt;
}

TrackerRequest RandomMessages::tracker_request() {
  switch (below(3)) {
    case 0:
      return Announce{.content_id = id<ContentId>(),
                      .event = static_cast<AnnounceEvent>(below(4)),
                      .listen_port = static_cast<std::uint16_t>(below(0x10000)),
                      .complete = coin(),
                      .lacks_percent = static_cast<std::uint8_t>(below(101)),
                      .peers_wanted = below(limits::kAnnouncePeersMax + 1),
                      .signer = signer()};
    case 1:
      return TrackerManifestGet{id<ContentId>(), below(limits::kManifestBytesMax + 1), signer()};
    default: {
      ManifestPart part;
      while (part.data.empty()) part = manifest_part();
      return TrackerManifestPut{id<ContentId>(), part.total_bytes, part.offset, part.data,
                                signer()};
    }
  }
}

TrackerReply RandomMessages::tracker_reply() {
  switch (below(4)) {
    case 0: {
      AnnounceReply reply{.interval_seconds = any_size_u32(),
                          .complete_count = any_size_u32(),
                          .incomplete_count = any_size_u32(),
                          .has_manifest = coin(),
                          .peers = {}};
      for (std::uint32_t i = below(limits::kAnnouncePeersMax + 1); i > 0; --i)
        reply.peers.push_back(endpoint());
      return reply;
    }
    case 1:
      return manifest_part();
    case 2:
      return TrackerManifestPutReply{below(limits::kManifestBytesMax + 1)};
    default:
      return TrackerError{static_cast<TrackerErrorCode>(below(7)), text(limits::kReasonBytesMax),
                          any_size_u32()};
  }
}

}  // namespace firn::test
