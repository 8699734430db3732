// Sends the manifest to neighbours that began with a link. A request of a few bytes causes an
// answer of many, so a part is made only when the part before it has been handed to the kernel and
// the upload limit allows it. Neighbours wait in line.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "client/core/base/uplink.h"
#include "client/core/mesh/membership.h"
#include "proto/messages.h"

namespace firn::core {

class ManifestServing final : public MeshPart {
 public:
  ManifestServing(const MeshPart& mesh, Uplink& uplink) : MeshPart(mesh), uplink_(uplink) {}

  // What is served; until then the answer to every request is that there is none.
  void set_file(std::string bytes) { file_ = std::move(bytes); }

  void asked(Neighbour& n, const proto::ManifestRequest& request);
  // The part last sent to this neighbour has been handed to the kernel.
  void part_departed(PeerKey peer);
  // To those in line, as the up limit allows now.
  void step() override;

  void neighbour_left(const Neighbour& n) override;

 private:
  struct Asker {
    std::optional<std::uint64_t> offset;  // of the part it asked for, not yet sent
    bool leaving = false;                 // one was sent and is not out of our hands
  };
  void queue(PeerKey peer, const Asker& asker);
  std::uint64_t part_bytes() const;

  Uplink& uplink_;
  std::string file_;
  std::map<PeerKey, Asker> askers_;  // connected neighbours
  std::deque<PeerKey> line_;
};

}  // namespace firn::core
