// SIGHUP: which options have other values than the tracker runs with, and which of these it can
// take without a new start.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace firn::tracker {

// What a parsed command line gives, with the configuration's part of it, by the options' long
// names.
using OptionValues = std::map<std::string, std::vector<std::string>>;
OptionValues values_of(const CLI::App& app);

struct Changes {
  std::set<std::string> applied;
  std::set<std::string> waiting;  // for the next start
};

class Reload {
 public:
  explicit Reload(OptionValues in_force) : in_force_(std::move(in_force)) {}

  // How these differ from what is in force. From now on those that can be taken are; one that
  // waits is named each time.
  Changes take(const OptionValues& fresh);

 private:
  OptionValues in_force_;
};

// "configuration read again; changed: rates; only with the next start: listen".
std::string text_of(const Changes& changes);

}  // namespace firn::tracker
