// Why a download does not move (client/core/view/standstill.h), in words.
#pragma once

#include <string>
#include <vector>

#include "client/core/view/standstill.h"

namespace firn::app {

// For programs: "nobody", "lacking", ...
const char* standstill_name(core::Standstill::Kind kind);

struct Reason {
  std::string name;  // standstill_name()
  std::string key;   // the same while nothing but times and counts changes
  std::string text;
};

// `origins`: how each of the content's origins stands, for people.
Reason reason_of(const core::Standstill& standstill, core::TimeUs now,
                 const std::vector<std::string>& origins = {});

}  // namespace firn::app
