// One swarm core through a life that the input chooses: connections, messages (from raw frames, and
// made field by field), the outcomes of what it asked for, time. It never crashes, asks only for
// what its contract allows, rests, and keeps to its bounds (session_world.h).
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "proto/base/digest.h"
#include "proto/base/signature.h"
#include "proto/content/authority.h"
#include "tests/fuzz/check_inputs.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/leaf_inputs.h"
#include "tests/fuzz/session_world.h"

namespace firn::fuzz {
namespace {

constexpr std::array<std::uint8_t, kSigningKeyBytes> kAuthoritySecret{1};

// Lets the peer speak for the content's authority. Signing takes longer than all else here.
const std::string& certificate_of(const Manifest& manifest, const PeerId& peer) {
  static std::map<std::pair<ContentId, PeerId>, std::string> known;
  std::string& certificate = known[{manifest.id, peer}];
  if (certificate.empty())
    certificate = make_certificate(manifest.id, peer, kAuthoritySecret).value();
  return certificate;
}

}  // namespace

class Session {
 public:
  Session(FuzzBytes& in, const Manifest& manifest, const core::Options& options)
      : in_(in),
        manifest_(manifest),
        world_(manifest, options),
        core_(manifest.id, options, world_.now) {
    world_.attach(core_);
    world_.drain();
  }

  void run() {
    for (int steps = 0; !in_.empty() && steps < 600; ++steps) {
      step(in_.byte());
      world_.drain();
    }
    FIRN_CHECK(core_.standstill().neighbours.size() == core_.view().peers.size());
    core_.stop(now());
    world_.drain();
    FIRN_CHECK(world_.stopped && core_.next_wake() == core::kNever);
  }
  void start() {
    if (world_.started || world_.stopped) return;
    const Shape& shape = world_.shape();
    core::StartState state;
    const std::uint8_t kind = in_.byte();
    for (std::uint32_t g = 0; g < shape.generation_count(); ++g) {
      state.verified.push_back(kind % 4 == 1 || (kind % 4 == 2 && in_.below(2) == 0));
      if (state.verified.back()) world_.verified.insert(g);
    }
    core_.start(manifest_, state, kind % 4 == 1 && kind % 8 < 4, now());
    world_.started = true;
    if (kind % 4 == 1 && kind % 8 < 4) world_.completed_ = world_.finished = true;
  }

 private:
  TimeUs now() const { return world_.now; }
  PeerId id() {
    PeerId id;
    id.bytes[0] = static_cast<std::uint8_t>(in_.below(40));
    return id;
  }

  // What the network does, what peers say, what the driver answers: which byte means what is part
  // of the corpus.
  void step(std::uint8_t what) {
    if (what >= 252) return pass_over();
    if (what >= 240) return trust(what % 4);
    if (what >= 236) return leaves(what % 4);
    if (what >= 233) return origin(what);
    const std::uint8_t kind = what % 24;
    if (kind <= 4) return connections_and_time(kind);
    if (kind <= 13 || kind == 21 || kind == 22) return message(kind);
    return outcome(kind);
  }

  void connections_and_time(std::uint8_t kind) {
    switch (kind) {
      case 2:
        if (auto* c = in_.pick(world_.connections)) {
          const PeerKey key = c->first;
          world_.connections.erase(key);
          core_.peer_closed(key, now());
        }
        return;
      case 3:
        world_.now += TimeUs{in_.byte()} * 1000;
        return;
      case 4:
        world_.now += TimeUs{in_.byte()} * core::kSecond;
        return;
      default:
        return open();
    }
  }

  void message(std::uint8_t kind) {
    switch (kind) {
      case 5:
        return raw_frame();
      case 6:
      case 7:
        return say(state());
      case 11:
        return say(exchange());
      case 12:
        return say(part());
      case 13:
        return say(proto::ManifestRequest{in_.number()});
      case 21:
        return say(hello());
      case 22:
        return say(proto::Goodbye{static_cast<proto::GoodbyeReason>(in_.below(10)), "why"});
      default:
        return say_block();
    }
  }

  void outcome(std::uint8_t kind) {
    switch (kind) {
      case 14:
        return depart();
      case 15:
        return disk();
      case 16:
        return decoded();
      case 17:
        return tracker();
      case 18:
        if (const auto attempt = in_.draw(world_.attempts, std::uint64_t{0})) {
          const auto code = in_.below(2) == 0 ? ErrorCode::kUnreachable : ErrorCode::kWrongIdentity;
          core_.connect_failed(attempt, {code, "connect", ""}, now());
        }
        return;
      case 19:
        if (world_.arrived || in_.below(8) == 0) start();
        return;
      case 20:
        return lose();
      default:
        if (in_.byte() == 0) core_.stop(now());
        return;
    }
  }

  void trust(std::uint8_t kind) {
    switch (kind) {
      case 0: {
        std::vector<std::uint32_t> generations(1 + in_.below(limits::kCheckGenerationsMax));
        for (std::uint32_t& g : generations) g = generation();
        return say(fuzz::check_request(std::move(generations)));
      }
      case 1:
        return say(asked_reply());
      case 2:
        return judged();
      default: {
        const core::MakeCheck made = in_.draw(world_.speaking.checks, {});
        if (made.generation >= world_.shape().generation_count()) return;
        proto::CheckReply reply = check_reply(made.generation);
        if (!made.key.empty()) reply.key.assign(made.key.begin(), made.key.end());
        core_.proof_made(made.peer, std::move(reply), now());
      }
    }
  }
  void leaves(std::uint8_t kind) {
    switch (kind) {
      case 0: {
        proto::LeafRequest request;
        for (std::uint32_t i = 1 + in_.below(limits::kLeafGenerationsMax); i > 0; --i) {
          request.generations.push_back(generation());
        }
        return say(std::move(request));
      }
      case 1: {
        const core::MakeLeaves wanted = in_.draw(world_.speaking.leaves, {});
        if (wanted.peer == core::kNoPeer) return;
        return core_.proof_made(wanted.peer, leaf_reply(wanted.generation), now());
      }
      default:
        return say(leaf_reply(generation()));
    }
  }
  proto::LeafReply leaf_reply(std::uint32_t g) {
    return fuzz::leaf_reply(in_, g, blocks_in(g), world_.shape().block_bytes);
  }
  proto::CheckReply check_reply(std::uint32_t g) { return fuzz::check_reply(in_, g, blocks_in(g)); }
  // Often to what the core has asked last.
  proto::CheckReply asked_reply() {
    const proto::CheckRequest& asked = world_.speaking.asked;
    if (asked.generations.empty() || in_.below(4) == 0) return check_reply(generation());
    proto::CheckReply reply = check_reply(asked.generations.front());
    if (in_.below(8) != 0) reply.key = asked.key;
    return reply;
  }
  void judged() {
    const Judgement judgement = in_.draw(world_.judging, {});
    if (judgement.generation == UINT32_MAX) return;
    std::vector<std::uint32_t> right, wrong;
    const bool readable = in_.below(4) != 0;
    for (const std::uint32_t slot : judgement.slots) {
      if (readable) (in_.below(3) == 0 ? wrong : right).push_back(slot);
    }
    core_.rows_judged(judgement.generation, right, wrong, readable, now());
  }

  void open() {
    const std::uint64_t attempt =
        in_.below(2) == 0 ? in_.draw(world_.attempts, std::uint64_t{0}) : 0;
    const PeerKey key = ++last_key_;
    const PeerId who = id();
    world_.connections[key].id = who;
    core_.peer_opened(key, who, "192.0.2.1", static_cast<std::uint16_t>(key), attempt, now());
    world_.drain();
    if (in_.below(4) != 0) to(key, hello());
  }

  void to(PeerKey key, proto::PeerMessage message) {
    const auto connection = world_.connections.find(key);
    if (connection == world_.connections.end()) return;
    const auto heard = [&](const proto::State& s) {
      connection->second.credit = std::max(connection->second.credit, s.credit);
    };
    if (const auto* s = std::get_if<proto::State>(&message)) heard(*s);
    if (auto* h = std::get_if<proto::Hello>(&message); h && !h->certificate.empty()) {
      h->certificate = certificate_of(manifest_, connection->second.id);
    }
    if (const auto* b = std::get_if<proto::Block>(&message); b && b->state) heard(*b->state);
    const std::size_t bytes = proto::wire_bytes(message);
    core_.message(key, std::move(message), bytes, now());
  }
  void pass_over() {  // a message of a retired or unknown kind
    const std::size_t bytes = in_.byte();
    if (auto* c = in_.pick(world_.connections))
      core_.message(c->first, proto::PassedOver{}, bytes, now());
  }
  void say(proto::PeerMessage message) {
    if (auto* c = in_.pick(world_.connections)) to(c->first, std::move(message));
  }
  void raw_frame() {
    const std::size_t size = in_.byte() + 256u * in_.below(4);
    const auto frame = in_.take(size);
    auto message = proto::parse_peer_message(frame);
    if (!message.ok()) return;
    if (std::holds_alternative<proto::PassedOver>(*message)) return pass_over();
    say(std::move(message).value());
  }

  proto::Hello hello() {
    proto::Hello h;
    h.content_id = manifest_.id;
    const std::uint8_t kind = in_.byte();
    if (kind == 0) h.content_id.bytes[0] ^= 1;
    if (kind == 1) h.version_min = h.version_max = 2;
    h.has_manifest = kind % 4 != 0;
    h.listen_port = kind % 3 == 0 ? 0 : kind;
    if (kind % 8 >= 6) h.certificate = "to be made for its sender";
    return h;
  }
  std::uint32_t generation() {
    const std::uint32_t count = world_.shape().generation_count();
    const std::uint8_t b = in_.byte();
    return b < 250 && count > 0 ? b % count : in_.number() % limits::kGenerationCountMax;
  }
  // n where there is no such generation.
  std::uint32_t blocks_in(std::uint32_t g) {
    const Shape& shape = world_.shape();
    return g < shape.generation_count() ? shape.blocks_in(g) : shape.generation_size;
  }
  proto::State state() {
    proto::State s;
    s.acknowledged = in_.below(8) != 0 ? in_.below(4) : in_.number();
    s.credit = in_.number();
    const std::uint8_t kind = in_.byte();
    s.prefer_coded = kind % 2 == 0;
    s.upload_kib = s.credit ^ s.acknowledged;
    s.neighbours = s.credit % 64;
    s.proven_only = kind % 8 == 5;
    s.trusted_only = kind % 8 == 4;
    s.wants_claims = kind % 16 == 5;
    for (std::uint64_t i = 0; i < s.acknowledged % 4; ++i) {
      s.received.push_back({i << 56, s.credit});
    }
    for (int i = kind / 2 % 4; i > 0; --i) {
      const std::uint32_t first = generation();
      const auto most = static_cast<std::uint32_t>(limits::kGenerationCountMax) - first;
      s.complete.push_back({first, 1 + in_.number() % most});
    }
    if (kind % 32 == 13) s.withdrawn = s.complete;
    if (kind % 32 == 11) s.unwanted = s.complete;
    if (kind % 32 == 7) std::swap(s.fetching, s.complete);
    if (kind == 255) s.complete = {{0, std::max(world_.shape().generation_count(), 1u)}};
    for (int i = kind / 8 % 8; i > 0; --i) {
      proto::GenerationState entry;
      entry.generation = generation();
      const std::uint32_t n = blocks_in(entry.generation);
      entry.rank = in_.below(n + 2);
      entry.quota = in_.number() % (limits::kGenerationSizeMax + 1);
      const std::uint32_t extra = in_.below(8);
      if (extra < 2) entry.null_vector = in_.bytes(n);
      if (extra == 2 && s.generations.size() < limits::kWantedBlocksMax) {
        entry.wanted_blocks = in_.bytes((n + 7) / 8);
        if (n % 8 != 0 && kind < 128) entry.wanted_blocks.back() %= 1u << (n % 8);
      }
      if (extra > 5) entry.urgency = extra - 5;
      s.generations.push_back(std::move(entry));
    }
    return s;
  }
  void say_block() {
    auto* c = in_.pick(world_.connections);
    if (!c) return;
    const Shape& shape = world_.shape();
    proto::Block b;
    b.generation = generation();
    const std::uint8_t kind = in_.byte();
    b.sequence = std::max(kind < 250 ? ++c->second.sequence : in_.number(), 1u);
    if (kind % 2 == 0) {
      b.source_index = kind < 240 ? in_.below(blocks_in(b.generation)) : in_.number() % 4096;
    } else {
      b.coefficients = in_.bytes(kind < 240 ? blocks_in(b.generation) : 1 + in_.below(9));
    }
    b.recoded = kind % 3 == 0;
    b.unproven = kind % 7 == 0;
    if (kind % 5 == 0) b.state = state();
    b.payload = proto::Payload::copy_of(in_.bytes(kind < 245 ? shape.block_bytes : 1 + kind % 3));
    to(c->first, std::move(b));
  }
  proto::PeerExchange exchange() {
    proto::PeerExchange e;
    for (std::uint32_t i = in_.below(limits::kPeerExchangeMax + 1); i > 0; --i) {
      PeerId who = id();
      who.bytes[1] = in_.byte();
      e.peers.push_back({who, "192.0.2.2", static_cast<std::uint16_t>(1 + in_.byte())});
    }
    return e;
  }
  proto::ManifestPart part() {
    const std::string& file = manifest_.file_bytes;
    if (in_.below(4) == 0) return {in_.number(), in_.number(), "x"};
    const std::size_t offset = in_.byte() * file.size() / 256;
    const bool whole = in_.below(2) == 0;
    return {file.size(), whole ? 0 : offset, whole ? file : file.substr(offset, 1 + in_.byte())};
  }

  void depart() {
    auto* c = in_.pick(world_.connections);
    if (!c) return;
    if (c->second.queued == 0) return core_.manifest_part_departed(c->first, now());
    --c->second.queued;
    core_.blocks_departed(c->first, 1, in_.below(4) == 0 ? 0 : 100, now());
  }
  void disk() {
    switch (in_.below(4)) {
      case 0:
        return core_.store_paused({ErrorCode::kDiskFull, "write", "full"}, now());
      case 1:
        return core_.store_resumed(now());
      default:
        if (const auto g = in_.draw(world_.storing, UINT32_MAX); g != UINT32_MAX) {
          core_.row_stored(now());
        }
    }
  }
  void origin(std::uint8_t what) {
    const bool well = in_.below(4) != 0;
    what == 233 ? world_.open_origin(well) : world_.fetched(well);
  }
  void decoded() {
    if (in_.below(4) == 0) {
      if (world_.completing && world_.given_up.empty()) {
        core_.content_finished(now());
        world_.completing = false;
        world_.finished = true;
      }
      return;
    }
    const auto g = in_.draw(world_.decoding, UINT32_MAX);
    if (g == UINT32_MAX) return;
    const auto outcome = static_cast<core::DecodeOutcome>(in_.below(3));
    if (outcome == core::DecodeOutcome::kVerified && !world_.stopped) world_.verified.insert(g);
    core_.generation_decoded(g, outcome, now());
  }
  void tracker() {
    if (in_.below(3) == 0) {
      const auto t = in_.draw(world_.fetching.trackers, SIZE_MAX);
      if (t == SIZE_MAX) return;
      Result<std::string> fetched = manifest_.file_bytes;
      if (in_.below(2) != 0) fetched = Error{ErrorCode::kUnreachable, "fetch", ""};
      return core_.manifest_read(core::kNoPeer, t, std::move(fetched), now());
    }
    const auto t = in_.draw(world_.announcing, SIZE_MAX);
    if (t == SIZE_MAX) return;
    if (in_.below(3) == 0) {
      return core_.tracker_failed(t, {ErrorCode::kUnreachable, "announce", ""}, in_.number(),
                                  now());
    }
    proto::AnnounceReply reply;
    reply.interval_seconds = in_.number();
    reply.complete_count = in_.number();
    reply.incomplete_count = in_.number();
    reply.has_manifest = in_.below(2) == 0;
    reply.peers = exchange().peers;
    core_.tracker_replied(t, reply, now());
  }
  void lose() {
    if (!world_.started || world_.stopped) return;
    if (auto* g = in_.pick(world_.given_up); g && in_.below(2) == 0) {
      const std::uint32_t regained = *g;
      world_.given_up.erase(regained);
      world_.verified.insert(regained);
      return core_.generation_regained(regained, now());
    }
    auto* g = in_.pick(world_.verified);
    if (!g) return;
    const std::uint32_t lost = *g;
    world_.verified.erase(lost);
    const bool fetch_again = !world_.finished && in_.below(2) == 0;
    if (fetch_again) {
      world_.completing = world_.completed_ = false;
    } else {
      world_.given_up.insert(lost);
    }
    core_.generation_lost(lost, {ErrorCode::kCorrupt, "read", "changed"}, fetch_again, now());
  }

  FuzzBytes& in_;
  const Manifest& manifest_;
  World world_;
  core::SwarmCore core_;
  PeerKey last_key_ = 0;
};

}  // namespace firn::fuzz

namespace firn::fuzz::session {
namespace {

Manifest manifest_of(std::uint32_t generations, std::uint32_t n, std::uint32_t k, bool authority) {
  Info info;
  static const std::string key = public_key_of(fuzz::kAuthoritySecret).value();
  if (authority) info.authority_key = key;
  info.name = "c";
  info.single_file = true;
  info.shape = {n, k, std::uint64_t{generations} * n * k};
  if (info.shape.content_bytes > 1 && generations % 2 == 1) --info.shape.content_bytes;
  info.files = {{.path = "", .bytes = info.shape.content_bytes}};
  const Digest leaf = fuzz::zeros_leaf(k);
  for (std::uint32_t g = 0; g < info.shape.generation_count(); ++g) {
    const std::uint32_t blocks = info.shape.blocks_in(g);
    const bool same = g > 0 && blocks == info.shape.blocks_in(g - 1);
    info.generation_digests.push_back(same ? info.generation_digests.back()
                                           : merkle_root(std::vector(blocks, leaf)));
  }
  auto made = make_manifest(info, {});
  FIRN_CHECK(made.ok());
  return *std::move(made);
}

}  // namespace

FIRN_FUZZ_TARGET(session) {
  FuzzBytes in(data, size);
  constexpr std::uint32_t kCounts[] = {3, 1, 0, 70}, kSizes[] = {2, 1, 4, 3};
  const std::uint8_t form = in.byte(), how = in.byte();
  const Manifest manifest = manifest_of(kCounts[form % 4], kSizes[form / 4 % 4],
                                        form / 16 % 2 == 0 ? 8 : 1, (form & 32) != 0);
  core::Options options;
  options.self.bytes[0] = 7;
  options.listen_port = 7000;
  if (form & 64) options.certificate.assign(limits::kCertificateBytes, 'c');
  options.trackers.resize(how % 3, Address{std::nullopt, "tracker", 1});
  if (how & 4) options.peers = {Address{std::nullopt, "192.0.2.9", 9}};
  if (how & 8) options.up_limit = 100;
  if (how & 16) options.down_limit = 100;
  if (how & 32) options.memory_bytes = 64;
  options.dense = (how & 64) != 0;
  options.seeding.kind = static_cast<core::SeedPolicy::Kind>(in.below(5));
  options.seeding.ratio = 1;
  Session session(in, manifest, options);
  if ((how & 128) == 0) session.start();
  session.run();
  return 0;
}

}  // namespace firn::fuzz::session
