// Checks open connections from time to time: drops those that are silent, stuck or out of sequence
// numbers, and replaces a useless neighbour.
#pragma once

#include <cstdint>
#include <map>

#include "client/core/mesh/membership.h"

namespace firn::core {

// Less: a slow TLS handshake fails; more: silent callers hold places.
inline constexpr TimeUs kHelloTimeout = 10 * kSecond;

class ConnectionWatch final : public MeshPart {
 public:
  explicit ConnectionWatch(const MeshPart& mesh) : MeshPart(mesh), reviewed_at_(life_.began_at()) {}

  // Blocks have this size from now on.
  void set_block_bytes(std::uint32_t block_bytes) { block_bytes_ = block_bytes; }
  void opened(const Neighbour& n) { look_by(n.contact.opened_at() + kHelloTimeout); }
  void step() override;
  TimeUs next_due() override;

 private:
  void look_by(TimeUs at) { due_ = at < due_ ? at : due_; }
  TimeUs stuck_patience() const;
  void give_up();
  void replace_useless();

  std::uint32_t block_bytes_ = 0;  // 0: not known yet
  TimeUs due_ = 0;
  TimeUs reviewed_at_;                      // replace_useless
  std::map<PeerKey, std::uint64_t> moved_;  // blocks both ways by then
};

}  // namespace firn::core
