// A row of a generation, by its slot.
#pragma once

#include <cstdint>

#include "proto/messages.h"

namespace firn::app {

// In memory, or (payload empty) in the store's spool.
struct RowRef {
  std::uint32_t slot = 0;
  proto::Payload payload;
};

}  // namespace firn::app
