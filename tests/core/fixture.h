// A swarm core by itself: the test speaks for its neighbours, its disk, its trackers and its
// clock, and looks at what the core wants done.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "client/core/swarm.h"
#include "proto/base/signature.h"
#include "proto/content/authority.h"
#include "proto/messages.h"
#include "tests/staged_manifests.h"

namespace firn::test {

using core::kMillisecond;
using core::kSecond;
using core::PeerKey;
using core::TimeUs;

inline PeerId peer_id(std::uint8_t first, std::uint8_t second = 0) {
  PeerId id;
  id.bytes[0] = first;
  id.bytes[1] = second;
  return id;
}

// A manifest with digests that are not looked at.
inline Manifest plain_manifest(std::uint32_t generations, std::uint32_t generation_size,
                               std::uint32_t block_bytes) {
  Manifest manifest;
  manifest.id.bytes[0] = 0xc0;
  manifest.info.name = "content";
  manifest.info.shape = {generation_size, block_bytes,
                         std::uint64_t{generations} * generation_size * block_bytes};
  manifest.file_bytes = "the manifest file";
  return manifest;
}

// The same with an authority, whose secret this is.
inline constexpr std::array<std::uint8_t, kSigningKeyBytes> kAuthoritySecret{9};

inline Manifest vouched_manifest(std::uint32_t generations, std::uint32_t generation_size,
                                 std::uint32_t block_bytes) {
  Manifest manifest = plain_manifest(generations, generation_size, block_bytes);
  manifest.info.authority_key = public_key_of(kAuthoritySecret).value();
  return manifest;
}

inline core::Options plain_options() {
  core::Options options;
  options.self = peer_id(0x50);
  options.listen_port = 7000;
  options.agent = "fixture";
  options.seeding.kind = core::SeedPolicy::Kind::kForever;
  return options;
}
// The same, for a peer that has heard of those.
inline core::Options knowing(std::vector<Address> peers) {
  core::Options options = plain_options();
  options.peers = std::move(peers);
  return options;
}

// The same, for a peer that has places for more neighbours than any test makes.
inline core::Options roomy(core::Options options = plain_options()) {
  options.neighbours_max = 1000;
  return options;
}

// Of many that differ.
inline PeerId numbered(std::uint32_t i) {
  return peer_id(static_cast<std::uint8_t>(1 + i / 200), static_cast<std::uint8_t>(i % 200));
}

// What somebody says who reads generation g now and has nothing of it yet.
inline proto::GenerationState reads(std::uint32_t g, std::uint32_t urgency = proto::kAwaited) {
  return {.generation = g, .rank = 0, .quota = 4, .null_vector = {}, .urgency = urgency};
}

class Fixture {
 public:
  explicit Fixture(const Manifest& content, core::Options options = plain_options())
      : manifest(content), core(content.id, std::move(options), now) {
    drain();
  }

  // Starts with nothing, or with everything.
  void start(bool complete = false) {
    core::StartState state;
    state.verified.assign(shape().generation_count(), complete);
    core.start(manifest, state, complete, now);
    drain();
  }

  // A neighbour connects (or is reached, with `attempt`) and says Hello.
  void open(PeerKey peer, const PeerId& id, std::uint64_t attempt = 0, bool has_manifest = true,
            std::uint16_t listen_port = 0) {
    connect(peer, id, attempt);
    proto::Hello hello;
    hello.content_id = manifest.id;
    hello.has_manifest = has_manifest;
    hello.listen_port = listen_port;
    say(peer, hello);
  }
  void connect(PeerKey peer, const PeerId& id, std::uint64_t attempt = 0) {
    connect_from("192.0.2." + std::to_string(peer), peer, id, attempt);
  }
  void connect_from(const std::string& ip, PeerKey peer, const PeerId& id,
                    std::uint64_t attempt = 0) {
    core.peer_opened(peer, id, ip, 4000, attempt, now);
    drain();
  }
  // A neighbour that has said how much it takes and, if `complete`, that it holds everything.
  void join(PeerKey peer, const PeerId& id, std::uint32_t credit, bool complete = false,
            std::uint64_t attempt = 0) {
    open(peer, id, attempt);
    proto::State state;
    state.credit = credit;
    if (complete) state.complete = {{0, shape().generation_count()}};
    say(peer, state);
  }
  // The same, holding everything; it shows a certificate made for `certified`.
  void join_certified(PeerKey peer, const PeerId& id, const PeerId& certified) {
    join_certified(peer, id, make_certificate(manifest.id, certified, kAuthoritySecret).value());
  }
  void join_certified(PeerKey peer, const PeerId& id, const std::string& certificate) {
    connect(peer, id);
    proto::Hello hello;
    hello.content_id = manifest.id;
    hello.has_manifest = true;
    hello.certificate = certificate;
    say(peer, hello);
    say_state(peer, 0, 0, {}, {{0, shape().generation_count()}});
  }
  void say(PeerKey peer, proto::PeerMessage message) {
    const bool unread = std::holds_alternative<proto::PassedOver>(message);
    const std::size_t bytes = unread ? 100 : proto::wire_bytes(message);
    core.message(peer, std::move(message), bytes, now);
    drain();
  }
  void say_state(PeerKey peer, std::uint32_t acknowledged, std::uint32_t credit,
                 std::vector<proto::GenerationState> generations = {},
                 std::vector<proto::Span> complete = {}) {
    proto::State state;
    state.acknowledged = acknowledged;
    state.credit = credit;
    state.generations = std::move(generations);
    state.complete = std::move(complete);
    say(peer, state);
  }
  // A systematic block, or a coded one.
  proto::Block block(std::uint32_t generation, std::uint32_t sequence,
                     std::uint32_t source_index) const {
    proto::Block b;
    b.generation = generation;
    b.sequence = sequence;
    b.source_index = source_index;
    b.payload = proto::Payload::allocate(shape().block_bytes);
    for (std::uint8_t& byte : b.payload.writable()) byte = 0;
    return b;
  }
  proto::Block coded_block(std::uint32_t generation, std::uint32_t sequence,
                           std::vector<std::uint8_t> vector) const {
    proto::Block b = block(generation, sequence, 0);
    b.source_index.reset();
    b.coefficients = std::move(vector);
    return b;
  }

  // Lets time pass, waking the core whenever it asks. At most `wakes_max` times: a core that asks
  // again and again without moving on is caught here. Returns the wakes.
  int pass(TimeUs duration, int wakes_max = 100'000) {
    const TimeUs end = now + duration;
    int wakes = 0;
    while (true) {
      const TimeUs at = core.next_wake();
      if (at > end) break;
      REQUIRE(++wakes <= wakes_max);
      now = std::max(at, now);
      core.wake(now);
      drain();
    }
    now = end;
    core.wake(now);
    drain();
    return wakes;
  }

  void drain() {
    for (auto some = core.take_actions(); !some.empty(); some = core.take_actions()) {
      for (core::Action& action : some) {
        auto* part = std::get_if<core::KeepManifestPart>(&action);
        part ? keep(*part) : actions.push_back(std::move(action));
      }
    }
  }
  void keep(const core::KeepManifestPart& action) {
    const auto whole = staged.keep(action);
    if (whole) core.manifest_read(action.peer, 0, proven(*whole, manifest.id), now);
  }
  // All actions of one kind so far, which are forgotten.
  template <typename T>
  std::vector<T> take() {
    std::vector<T> taken;
    std::erase_if(actions, [&](core::Action& action) {
      if (T* one = std::get_if<T>(&action)) {
        taken.push_back(std::move(*one));
        return true;
      }
      return false;
    });
    return taken;
  }
  // All messages of one kind to `peer` so far, which are forgotten; parts of a manifest are
  // reported as departed.
  template <typename T>
  std::vector<T> heard(PeerKey peer) {
    std::vector<T> taken;
    std::erase_if(actions, [&](core::Action& action) {
      auto* send = std::get_if<core::Send>(&action);
      if (!send || send->peer != peer || !std::holds_alternative<T>(send->message)) return false;
      taken.push_back(std::get<T>(std::move(send->message)));
      return true;
    });
    if constexpr (std::is_same_v<T, proto::ManifestPart>) {
      for (std::size_t i = 0; i < taken.size(); ++i) core.manifest_part_departed(peer, now);
      drain();
    }
    return taken;
  }
  // Blocks emitted for `peer`, which are forgotten; each is reported as departed.
  std::vector<core::SendBlock> blocks_to(PeerKey peer, std::size_t frame_bytes = 1000) {
    std::vector<core::SendBlock> taken;
    while (true) {
      std::size_t found = 0;
      std::erase_if(actions, [&](core::Action& action) {
        auto* send = std::get_if<core::SendBlock>(&action);
        if (!send || send->peer != peer) return false;
        ++found;
        taken.push_back(std::move(*send));
        return true;
      });
      if (found == 0) return taken;
      for (std::size_t i = 0; i < found; ++i) core.blocks_departed(peer, 1, frame_bytes, now);
      drain();
    }
  }
  bool closed(PeerKey peer) {
    bool found = false;
    for (const core::Close& close : take<core::Close>()) found |= close.peer == peer;
    return found;
  }
  // Whether some notice so far has `text` in it.
  bool noticed(const std::string& text) const {
    for (const core::Action& action : actions) {
      const auto* notice = std::get_if<core::Notice>(&action);
      if (notice && notice->text.find(text) != std::string::npos) return true;
    }
    return false;
  }
  const Shape& shape() const { return manifest.info.shape; }

  TimeUs now = kSecond;
  Manifest manifest;
  core::SwarmCore core;
  std::vector<core::Action> actions;
  StagedManifests staged;
};

}  // namespace firn::test
