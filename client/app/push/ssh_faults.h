// Why a host of `firn push` failed, in words: one line that says what is wrong and what to do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace firn::app {

// How the ssh of a host ended.
struct SshEnd {
  std::string host;                // as given
  std::vector<std::string> lines;  // the last of standard error: of ssh and of the remote side
  int code = 0;                    // exit code
  int signal = 0;                  // that ended ssh itself; 0: none
  bool answered = false;           // the remote's line "firn-push ..." has come
};

// The reason is made of `lines` where these are OpenSSH's; else it is their last one.
std::string fault_of(const SshEnd& end);

// ssh could not be started at all: `why` is the system's reason.
std::string no_ssh_fault(std::string_view program, std::string_view why);
// What the remote's first line says: there is no firn, or one of another version.
std::string no_firn_fault();
std::string other_firn_fault(std::string_view theirs, std::string_view ours);

}  // namespace firn::app
