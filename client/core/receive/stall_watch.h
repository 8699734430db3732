// A generation that stands still although its neighbours hold as much as we do: their spans may
// differ from ours. A vector orthogonal to all we hold lets them find out. A neighbour that
// answered one spans more than ranks tell, perhaps by many rows, as where two peers read other
// halves of a medium: it is asked again at once, as long as it answers.
#pragma once

#include <cstdint>
#include <map>

#include "client/core/base/context.h"
#include "client/core/base/uplink.h"
#include "client/core/mesh/membership.h"
#include "client/core/rows/holdings.h"
#include "codec/random.h"

namespace firn::core {

class StallWatch final : public Part {
 public:
  StallWatch(const Context& context, const Life& life, Membership& membership, Uplink& uplink,
             const Holdings& holdings);

  // Where it is due: has null vectors told of one generation that stands still, as each costs n
  // bytes for every neighbour; in turn, as some may be beyond help. Blocks for others that stand
  // still may be sent as well by then.
  void step() override;
  TimeUs next_due() override;

 private:
  struct Asked {
    std::uint32_t rows = 0;  // that were there then
    TimeUs at = 0;
  };
  void follow_up();
  void ask_again(std::uint32_t g, const OpenGeneration& open);
  bool idle() const { return life_.complete() || holdings_.complete(); }
  bool stands_still(std::uint32_t g, const OpenGeneration& open) const;

  const Context& context_;
  const Life& life_;
  Membership& membership_;
  Uplink& uplink_;
  const Holdings& holdings_;
  codec::CoefficientStream random_;
  TimeUs looked_at_;
  std::uint32_t last_ = UINT32_MAX;  // the last generation looked at
  std::map<std::uint32_t, Asked> asked_;
};

}  // namespace firn::core
