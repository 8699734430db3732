// firn share, for commands that share what they have made themselves.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/app/commands/daemon/share_daemon.h"
#include "client/app/commands/options/making_options.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/options/origin_options.h"
#include "client/app/commands/options/status_option.h"
#include "client/app/console/console.h"
#include "client/app/console/exit_codes.h"
#include "client/app/driver/peer_driver.h"
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
  StatusOptions status;
  ConsoleOptions console;
  // Makes the manifest of a path, and perhaps what is there first; null: content::create_manifest.
  std::function<Result<Manifest>(const std::string& path, const content::CreateOptions& options)>
      maker;
  std::string if_stopped = "nothing was shared or written";  // what became of the work then
};

// The steps of it, for commands that go another way:
// what makes and signs, once origins may be published and nothing that this command writes is part
// of what is shared;
Result<Signer> prepare_making(const ShareArguments& arguments, Console& console);
// one content of `path`;
Result<MadeContent> make_content(const ShareArguments& arguments, const std::string& path,
                                 const Signer& signer, std::set<std::string>& excludes_used,
                                 Console& console);
// how this peer, `self`, serves it;
Result<SessionPlan> serving_plan(const ShareArguments& arguments, MadeContent made,
                                 const Signer& signer, const PeerId& self);
// the link for others.
std::string link_of(const ShareArguments& arguments, const PeerDriver& driver, const Signer& signer,
                    const ContentSession& session, const std::optional<ContentSecret>& secret);

// Makes the manifests, announces and serves until interrupted.
ExitCode run_share(const ShareArguments& arguments, Console& console);

}  // namespace firn::app
