// Why a download does not move (client/core/view/standstill.h), in words.
#pragma once

#include <string>

#include "client/core/view/standstill.h"

namespace firn::app {

struct Reason {
  std::string name;  // of its kind, for programs: "nobody", "lacking", ...
  std::string key;   // the same while nothing but times and counts changes
  std::string text;
};

Reason reason_of(const core::Standstill& standstill, core::TimeUs now);

}  // namespace firn::app
