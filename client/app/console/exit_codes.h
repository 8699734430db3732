// The exit codes of `firn`: the one list that the program, `--help` and docs/operations.md share.
#pragma once

#include <string>

#include "proto/base/result.h"

namespace firn::app {

enum class ExitCode : int {
  kOk = 0,
  kInternal = 1,
  kUsage = 2,    // unknown option; malformed link, manifest or address
  kNetwork = 3,  // no peer or tracker answered and the command gave up; get --timeout; hosts of
                 // push failed
  kDisk = 4,     // a file is missing, unreadable, unwritable, or another is in the way; full
  kVerifyFailed = 5,   // bytes that differ from what the manifest says
  kWrongIdentity = 6,  // a peer, tracker or publisher has another key than the one asked for
  kPortInUse = 7,
  kOnComplete = 8,  // the content is complete; the command of --on-complete failed
  kNoDevice = 9,    // --codec gpu, and there is no GPU to be used
  kInterrupted = 130,
  kPipeClosed = 141,  // get -o -: the reader of standard output has gone; as after SIGPIPE
};

// The code with which the program ends because of `error`.
ExitCode exit_code_of(const Error& error);

// The table printed below `firn --help`.
std::string exit_code_help();

}  // namespace firn::app
