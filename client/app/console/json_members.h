// Members of what the daemon's methods answer, as the pages show them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "client/app/console/events.h"

namespace firn::app {

// Empty: there is no such text.
inline std::string text_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// `unknown`: there is no such number.
inline double number_of(const Json& json, const char* name, double unknown = 0) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>() : unknown;
}

}  // namespace firn::app
