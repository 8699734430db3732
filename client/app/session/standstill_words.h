// Why a download does not move (client/core/view/standstill.h), in words.
#pragma once

#include <string>
#include <vector>

#include "client/app/session/core_doors.h"
#include "client/core/view/standstill.h"

namespace firn::app {

struct Reason {
  std::string name;  // of its kind, for programs: "nobody", "lacking", ...
  std::string key;   // the same while nothing but times and counts changes
  std::string text;
};

// Why nothing comes, for people; empty before the core is made.
std::string why_it_waits(const CoreDoors& core, core::TimeUs now);

Reason reason_of(const core::Standstill& standstill, core::TimeUs now);

// "generation 3", "generations 3 to 5, 9 and 40 more"; `count`: how many there are in all.
std::string generations_text(const std::vector<proto::Span>& spans, std::uint64_t count);

}  // namespace firn::app
