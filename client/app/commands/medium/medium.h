// The parts of `firn medium` that have files of their own, and what they share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "client/app/commands/commands.h"
#include "client/app/commands/transfer/running.h"
#include "client/medium/label.h"
#include "proto/content/manifest.h"

namespace firn::app {

void add_medium_write(CLI::App& app, Chosen& chosen);
void add_medium_read(CLI::App& app, Chosen& chosen);
void add_medium_scrub(CLI::App& app, Chosen& chosen);

// What reading a medium into a folder came to.
struct MediumRead {
  ExitCode code = ExitCode::kInternal;
  std::optional<medium::Label> label;
  std::optional<Manifest> manifest;
};

struct MediumReadRequest {
  std::string input, dir;
  std::string as;                      // as content::ContentPlace's
  std::string expected;                // link or manifest file; empty: any content
  std::optional<medium::Rates> rates;  // told by the user
  bool overwrite = false;
  unsigned threads = 2;
};

// Reads the medium, restores its content below `dir`, and says what happened; errors too.
MediumRead read_medium(const MediumReadRequest& request, Console& console);

}  // namespace firn::app
