// Attaches null vectors if a generation stands still although neighbours hold as much of it as we
// do. Their spans may differ from ours, and a vector orthogonal to all that we hold lets them find
// out. A neighbour that answered one spans more than ranks tell, perhaps by many rows, as when two
// peers read different halves of a medium: it gets another one at once, as long as it answers.
#pragma once

#include <cstdint>
#include <map>

#include "client/core/base/uplink.h"
#include "client/core/mesh/membership.h"
#include "client/core/rows/holdings.h"
#include "codec/random.h"

namespace firn::core {

class StallWatch final : public MeshPart {
 public:
  StallWatch(const MeshPart& mesh, Uplink& uplink, const Holdings& holdings);

  // If it is due: attaches null vectors of one generation that stands still, as each costs n bytes
  // for every neighbour. Generations take turns, as no neighbour may have news of some. Then
  // blocks for neighbours whose generations stand still may be sent, too.
  void step() override;
  TimeUs next_due() override;

 private:
  struct Asked {
    std::uint32_t rows = 0;  // that were there then
    TimeUs at = 0;
  };
  void follow_up();
  void ask_again(std::uint32_t g, const OpenGeneration& open);
  bool idle() const { return life_.complete() || holdings_.done(); }
  bool stands_still(std::uint32_t g, const OpenGeneration& open) const;

  Uplink& uplink_;
  const Holdings& holdings_;
  codec::CoefficientStream random_;
  TimeUs looked_at_;
  std::uint32_t last_ = UINT32_MAX;  // the last generation looked at
  std::map<std::uint32_t, Asked> asked_;
};

}  // namespace firn::core
