// A simulated peer's disk, and what its workers do with it: rows stored, generations decoded,
// blocks made. It takes time, and nothing while it is paused or has no room. What has been
// written survives a crash of the peer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "client/core/base/actions.h"
#include "proto/base/ids.h"
#include "proto/messages.h"
#include "tests/sim/content.h"
#include "tests/sim/peer_spec.h"

namespace firn::sim {

class Peer;

class Disk {
 public:
  struct Row {
    std::vector<std::uint8_t> vector;
    std::vector<std::uint8_t> payload;
    PeerId sender;
    core::Standing standing;
  };

  // All but `spec` outlive the disk. `random` decides which decodes fail.
  Disk(Peer& peer, const Content& content, codec::CoefficientStream& random, const PeerSpec& spec)
      : peer_(peer),
        content_(content),
        random_(random),
        decode_fails_(spec.decode_fails),
        room_(spec.spool_bytes) {}

  // Every generation: as it is, or noise.
  void fill(bool noise);
  bool full() const { return verified.size() == content_.manifest.info.shape.generation_count(); }

  void store(const core::StoreRow& action);
  void mark(const core::MarkProven& action);
  void doubt_rows();
  void decode(const core::Decode& action);
  // As it has come from an origin.
  void keep(std::uint32_t generation);
  void drop(std::uint32_t generation);
  void drop(const core::DropSlots& action);
  void judge(const core::JudgeRows& action);
  // Of a verified generation.
  std::vector<Digest> leaves(std::uint32_t generation) const;
  proto::Payload payload_of(const core::SendBlock& action) const;
  // Whether row `payload` is the combination of source blocks that `vector` promises.
  bool is_true(std::uint32_t generation, const std::vector<std::uint8_t>& vector,
               const std::vector<std::uint8_t>& payload) const;
  // Whether the block is false although its sender answers for it.
  bool betrays(const core::SendBlock& action) const;

  // It takes nothing until it is resumed.
  void pause();
  void resume();
  bool paused() const { return paused_; }
  // How often it had no room for what was to be written.
  std::uint32_t refusals() const { return refusals_; }
  // The peer has crashed: what was not on the disk is gone.
  void crashed();

  std::map<std::uint32_t, std::vector<std::uint8_t>> verified;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Row> rows;  // by generation and slot

 private:
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  void write_row(Place place);
  bool has_room(std::size_t bytes) const;
  void refuse(std::function<void()> work);
  void try_again();
  void read_and_decode(const core::Decode& action);
  bool decodes(const core::Decode& action);

  Peer& peer_;
  const Content& content_;
  codec::CoefficientStream& random_;
  const double decode_fails_;
  const std::uint64_t room_;
  std::set<Place> spooled_;  // the other rows are in memory
  std::uint32_t refusals_ = 0;
  bool paused_ = false, full_ = false;
  std::vector<std::function<void()>> waiting_;  // what a paused disk has still to do
};

}  // namespace firn::sim
