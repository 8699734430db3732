// Which rows of an open generation go into a mixture for a neighbour.
//
// A mixture is news to its receiver if one of its rows is, so that few rows can do as well as all;
// and a payload costs as many multiply-adds, and bytes to read, as rows go into it. Rows that were
// in no mixture for this receiver come first: of these those that came straight from a holder of
// the whole generation, as all others may have reached the receiver another way. Then others by
// chance. Rows that the receiver sent itself tell it nothing, and are left out as long as there are
// others [053].
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "client/core/rows/generation_set.h"
#include "client/core/rows/holdings.h"
#include "codec/random.h"

namespace firn::core::policy {

struct MixtureFor {
  PeerId receiver;
  Rows which = Rows::kAll;
  std::size_t rows_max = 0;        // 0: all that may be mixed
  const SlotSet* mixed = nullptr;  // slots whose rows were in mixtures for it; null: none
};

// Slots in ascending order, at least one. open.count(wanted.which) > 0.
std::vector<std::uint32_t> choose_mixture(const OpenGeneration& open, const MixtureFor& wanted,
                                          codec::CoefficientStream& random);

}  // namespace firn::core::policy
