// Result<T>: a value, or an Error that says which operation failed, on what, and why.
//
// Operating errors (disk, peer, TLS, tracker, bad input) travel in Results; programmer errors are
// FIRN_CHECKs, which stay on in release builds. No exception crosses a module boundary.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

#define FIRN_CHECK(condition)                                                            \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

namespace firn {

enum class ErrorCode {
  kBadInput,       // malformed link, manifest, address, option, file
  kNotFound,       // a file, folder or content that is not there
  kExists,         // something is in the way (a file that is not ours, a port in use)
  kBusy,           // it is being removed or moved, or another process uses it: try again soon
  kReadOnly,       // no permission or a read-only file system
  kDiskFull,       // no space or quota left
  kIo,             // any other failure of the disk
  kUnsupported,    // the file system cannot do it, and will not if tried again
  kUnreachable,    // name resolution, refused or timed-out connection
  kWrongIdentity,  // the other side proved another key than the one asked for
  kProtocol,       // the other side broke the protocol
  kCorrupt,        // data does not match its digest
  kNoDevice,       // a GPU was asked for, and there is none to be used
  kCancelled,      // given up because of a request to stop
  kInternal,
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string operation;  // what was tried, on what: "open /mnt/a/file"
  std::string detail;     // why it failed and what to do: "No space left on device"

  std::string message() const { return detail.empty() ? operation : operation + ": " + detail; }
};

// Error from errno as it stands after a failed system call on `operation`.
Error error_from_errno(std::string operation, int error_number);

// The name of a code as it appears in `--json` errors: "disk_full".
const char* error_code_name(ErrorCode code);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : value_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return value_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    FIRN_CHECK(ok());
    return std::get<0>(value_);
  }
  const T& value() const& {
    FIRN_CHECK(ok());
    return std::get<0>(value_);
  }
  T&& value() && {
    FIRN_CHECK(ok());
    return std::get<0>(std::move(value_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    FIRN_CHECK(!ok());
    return std::get<1>(value_);
  }

 private:
  std::variant<T, Error> value_;
};

struct Done {};
using Status = Result<Done>;

}  // namespace firn
