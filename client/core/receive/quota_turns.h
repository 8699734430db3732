// Rotates the shares of the last rows. If only few rows of a generation are missing, each neighbour
// has a lease on some of them (leases.h). These shares rotate with time, so that no row waits for
// one neighbour, and the new quotas are sent.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/core/mesh/membership.h"
#include "client/core/receive/store_pressure.h"
#include "client/core/rows/generations.h"

namespace firn::core {

class QuotaTurns final : public MeshPart {
 public:
  QuotaTurns(const MeshPart& mesh, const StorePressure& pressure, Generations& generations);

  // How often the shares have gone round.
  std::uint32_t turn() const { return turn_; }

  void step() override;
  TimeUs next_due() override;

 private:
  TimeUs interval() const;
  void tell_near_ends();
  void tell(const std::vector<std::uint32_t>& generations);

  const StorePressure& pressure_;
  Generations& generations_;
  std::uint32_t turn_ = 0;
  TimeUs turned_at_;
  std::optional<std::uint64_t> had_;  // rows, when the shares went round last
};

}  // namespace firn::core
