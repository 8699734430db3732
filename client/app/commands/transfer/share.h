// firn share, for commands that share what they have made themselves.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/app/commands/options/making_options.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/options/origin_options.h"
#include "client/app/console/console.h"
#include "client/app/console/exit_codes.h"
#include "client/app/publishing/signer.h"
#include "client/content/create.h"

namespace firn::app {

struct ShareArguments {
  bool with_daemon = false;
  std::string socket;
  std::vector<std::string> paths;
  std::string output;
  MakingOptions making;
  SigningOptions signing;
  bool leave_when_safe = false;
  std::string until;
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
  OriginOptions origins;
  std::string status;
  ConsoleOptions console;
  // Makes the manifest of a path, and perhaps what is there first; null: content::create_manifest.
  std::function<Result<Manifest>(const std::string& path, const content::CreateOptions& options)>
      maker;
  std::string if_stopped = "nothing was shared or written";  // what became of the work then
};

// Makes the manifests, announces and serves until interrupted.
ExitCode run_share(const ShareArguments& arguments, Console& console);

}  // namespace firn::app
