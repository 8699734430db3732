// How work that was given to a backend ended. Nothing here throws, prints or exits: what went wrong
// is handed up with words for people.
#pragma once

#include <string>

namespace firn::codec {

struct [[nodiscard]] BackendStatus {
  enum class Code {
    kOk,
    kUnsupported,  // a shape or argument that the call does not take; others may work
    kOutOfMemory,  // on the device or of pinned host memory; less at a time, or later, may work
    kFailed,       // no device, or an error of the device: do not ask again
  };
  Code code = Code::kOk;
  std::string detail;  // what failed, in words; empty if all went well

  bool ok() const { return code == Code::kOk; }
};

}  // namespace firn::codec
