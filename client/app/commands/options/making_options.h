// Options of the commands that make a manifest from files: create, share and medium write.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/app/console/console.h"
#include "client/app/publishing/signer.h"
#include "client/content/create.h"

namespace firn::app {

struct MakingOptions {
  std::uint32_t generation_size = 0;
  std::uint64_t block_bytes = 0;
  std::string symlinks = "refuse";
  std::vector<std::string> excludes;
  bool skip_bad_names = false;
  bool is_private = false;
  bool fresh_secret = false;  // of a private content
};
void add_making_options(CLI::App& app, MakingOptions& options);
// --private and --fresh-secret, for commands whose link has the secret: secret_for() tells it.
void add_private_options(CLI::App& app, MakingOptions& options);

// For create_manifest: with progress named `what`, and a warning for each thing left out; cancelled
// by StopRequest. It adds the patterns of --exclude that left something out to `excludes_used`,
// which must live as long as `console` and the result.
content::CreateOptions create_options(const MakingOptions& options, unsigned threads,
                                      const std::string& what, Console& console,
                                      std::set<std::string>& excludes_used);
// Of the content made, if it is private.
std::optional<ContentSecret> secret_for(const MakingOptions& options, const Signer& signer,
                                        const ContentId& content);
// A misspelt pattern would let through what was meant to stay private.
void warn_of_unused_excludes(const MakingOptions& options, const std::set<std::string>& used,
                             Console& console);

}  // namespace firn::app
