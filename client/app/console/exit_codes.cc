#include "client/app/console/exit_codes.h"

namespace firn::app {

ExitCode exit_code_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kBadInput:
      return ExitCode::kUsage;
    case ErrorCode::kNotFound:
    case ErrorCode::kExists:
    case ErrorCode::kBusy:
    case ErrorCode::kReadOnly:
    case ErrorCode::kDiskFull:
    case ErrorCode::kIo:
    case ErrorCode::kUnsupported:
      return ExitCode::kDisk;
    case ErrorCode::kUnreachable:
    case ErrorCode::kProtocol:
      return ExitCode::kNetwork;
    case ErrorCode::kWrongIdentity:
      return ExitCode::kWrongIdentity;
    case ErrorCode::kCorrupt:
      return ExitCode::kVerifyFailed;
    case ErrorCode::kNoDevice:
      return ExitCode::kNoDevice;
    case ErrorCode::kCancelled:
      return ExitCode::kInterrupted;
    case ErrorCode::kInternal:
      return ExitCode::kInternal;
  }
  return ExitCode::kInternal;
}

std::string exit_code_help() {
  return "Exit codes:\n"
         "  0    done; for get: every file is complete and verified\n"
         "  1    internal error\n"
         "  2    wrong usage, or a malformed link, manifest or address\n"
         "  3    no peer, tracker or daemon could be reached, or no progress for get --timeout;\n"
         "       push: not every host has everything\n"
         "  4    disk or standard output: missing, not writable, full, or another file in the way\n"
         "  5    bytes differ from what the manifest says\n"
         "  6    another key than the one asked for: of a tracker, a peer or a publisher\n"
         "  7    the port to listen on is in use\n"
         "  8    complete and verified, but the command of --on-complete failed\n"
         "  9    --codec gpu, and there is no GPU that can be used\n"
         "  130  interrupted; the same command continues where this one stopped\n"
         "  141  the reader of get -o - has gone\n";
}

}  // namespace firn::app
