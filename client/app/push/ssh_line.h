// The command line of the ssh that `firn push` starts for each host.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/app/push/host_list.h"
#include "proto/base/result.h"

namespace firn::app {

struct SshOptions {
  std::vector<std::string> words{"ssh"};  // of --ssh
  std::string user;                       // of --user; empty: ssh's own choice
  std::string jump;                       // of -J; empty: none
  int connect_timeout_s = 15;
};

// Program and arguments, as execvp() takes them. The remote shell gets `constant` alone. `alone`:
// there is one host, whose ssh may ask for a password.
std::vector<std::string> ssh_arguments(const SshOptions& options, const PushHost& host, bool alone,
                                       std::string_view constant);

// `text` split into words as a POSIX shell does: white space, 'quotes', "quotes" and backslashes.
// Nothing is expanded, and no character ends the command. Errors: kBadInput (a quote without its
// end, a backslash at the end, no word).
Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace firn::app
