// firn seed --from-medium FILE: serve what media hold of a content, and take from the swarm what
// they lack.
//
// The rows stand where those of an interrupted download do, so that such a download serves them.
// What can be decoded is, and verified: of these generations the peer answers for each block. Of
// the others no row is known to be true before the swarm has completed them, or the content's
// authority has judged it: the peer mixes them for those that take such blocks, and says that it
// does not answer for them, like any peer that goes on with a download (docs/swarming.md, "Trust").
#pragma once

#include <string>
#include <vector>

#include "client/app/commands/options/options.h"
#include "client/app/commands/options/origin_options.h"
#include "client/app/commands/options/publishing_options.h"

namespace firn::app {

struct SeedMediaRequest {
  std::vector<std::string> media;
  std::string source;  // link or manifest file; empty: what the media say
  std::string dir;
  std::string as;  // as content::ContentPlace's
  const SigningOptions& signing;
  const CodecOptions& codec;
  const NetworkOptions& network;
  const OriginOptions& origins;  // what the swarm lacks is fetched from there too
};

// Until it is interrupted. Says what fails.
ExitCode seed_from_media(const SeedMediaRequest& request, Console& console);

}  // namespace firn::app
