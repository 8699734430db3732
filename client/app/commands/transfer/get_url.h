// firn get URL: downloads one file of a web server or bucket, as curl does. Nobody vouches for its
// bytes.
#pragma once

#include <string>

#include "client/app/commands/options/origin_options.h"
#include "client/app/commands/transfer/share.h"
#include "client/app/commands/transfer/url_source.h"
#include "client/app/console/console.h"
#include "client/app/console/exit_codes.h"

namespace firn::app {

struct UrlGet {
  UrlSource source;
  std::string dir;
  bool as_given = false;  // the name is the user's own choice
  bool overwrite = false;
  std::string on_complete;       // shell command; empty: none
  OriginReadingOptions reading;  // timeout and limit
  OriginOptions origins;
};

// Into a folder. What an earlier run left is gone on with.
ExitCode get_url(const UrlGet& get, Console& console);
// To standard output, in order, as it comes.
ExitCode get_url_to_stdout(const UrlGet& get, Console& console);
// Into a folder, hashed meanwhile, and then shared as `share` says, whose paths and maker are set
// here.
ExitCode get_url_and_share(const UrlGet& get, ShareArguments share, Console& console);

}  // namespace firn::app
