#include "proto/base/result.h"

#include <cerrno>
#include <system_error>

namespace firn {
namespace {

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EEXIST:
    case ENOTEMPTY:
    case EISDIR:
    case EADDRINUSE:
      return ErrorCode::kExists;
    case EROFS:
    case EACCES:
    case EPERM:
      return ErrorCode::kReadOnly;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return ErrorCode::kBusy;
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kDiskFull;
    case EXDEV:
    case EFBIG:
    case EMLINK:
    case EILSEQ:
    case EOPNOTSUPP:
    case ENOSYS:
    case ENOLCK:
      return ErrorCode::kUnsupported;
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETUNREACH:
    case ENETDOWN:
    case EADDRNOTAVAIL:
    case ETIMEDOUT:
    case EPIPE:
      return ErrorCode::kUnreachable;
    case ECANCELED:
      return ErrorCode::kCancelled;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return ErrorCode::kBadInput;
    default:
      return ErrorCode::kIo;
  }
}

}  // namespace

Error error_from_errno(std::string operation, int error_number) {
  // generic_category().message() is strerror made safe for threads.
  return {code_of(error_number), std::move(operation),
          std::generic_category().message(error_number)};
}

const char* error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kBadInput:
      return "bad_input";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kExists:
      return "exists";
    case ErrorCode::kBusy:
      return "busy";
    case ErrorCode::kReadOnly:
      return "read_only";
    case ErrorCode::kDiskFull:
      return "disk_full";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kUnreachable:
      return "unreachable";
    case ErrorCode::kWrongIdentity:
      return "wrong_identity";
    case ErrorCode::kProtocol:
      return "protocol";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kNoDevice:
      return "no_device";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

}  // namespace firn
