// firn share --daemon: what was made is a running daemon's to serve.
#pragma once

#include <optional>
#include <string>

#include "client/app/commands/asking.h"
#include "proto/base/result.h"
#include "proto/base/signing_key.h"
#include "proto/content/content_secret.h"
#include "proto/content/manifest.h"

namespace firn::app {

// A content that was made from files.
struct MadeContent {
  Manifest manifest;
  std::string folder;                   // in which it stands
  std::optional<ContentSecret> secret;  // of a private content
  std::int64_t hashed_since_ns = 0;     // Unix time when hashing began
};

// Gives it to the daemon; the link to it. One that the daemon has already stays as it is. Waits a
// little for trackers to say their ids. Errors: as call_daemon().
Result<std::string> share_with_daemon(const AskOptions& daemon, const MadeContent& made,
                                      const std::optional<PublicKey>& publisher);

}  // namespace firn::app
