// What an earlier run left of a content, as the store tells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/standing.h"
#include "proto/base/ids.h"

namespace firn::core {

// A row that an earlier run left in its slot.
struct ResumedRow {
  std::uint32_t generation = 0;
  std::uint32_t slot = 0;
  std::vector<std::uint8_t> vector;
  PeerId sender;
  Standing standing = Standing::kUnanswered;
};

struct StartState {
  std::vector<bool> verified;    // per generation
  std::vector<ResumedRow> rows;  // slots of one generation need not be consecutive or innovative
  std::string certificate = {};  // as in Options, where it was not known yet; or empty
};

}  // namespace firn::core
