// What is asked of an origin, and how that ended: the words that transfers.h and origin_answer.h
// share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "client/app/origin/origin_access.h"
#include "proto/base/result.h"
#include "proto/content/origin_url.h"

namespace firn::app {

// Bytes of a file: those from `first` on.
struct FileRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;  // at least 1

  bool operator==(const FileRange&) const = default;
};

struct TransferRequest {
  OriginUrl url;                               // of one file
  std::shared_ptr<const OriginAccess> access;  // never null; shared with the transfers' thread
  std::optional<FileRange> range;              // none: all of the file
  std::optional<std::uint64_t> size;           // the file's, if it is known: another one is a fault
  // OriginAnswer::validator() of an earlier answer for this file, or empty: another one in the
  // answer is a fault. Sent as If-Range or If-Match, If-Unmodified-Since.
  std::string validator;
};

// Why a transfer did not bring what was asked, by what can be done about it.
enum class Fault {
  kNone,
  kPassing,    // refused, timed out, stalled, closed early, 429, 5xx, no such host: later again
  kForbidden,  // 401, 403, 407: credentials are missing, wrong, or no longer valid
  kGone,       // 404, 410
  kNoRanges,   // other bytes than those asked: 200 for 206, 416, another Content-Range, more bytes
  kChanged,    // the file has another size, ETag or date than before
  kEncoded,    // the bytes are compressed, though none of that was asked for
  kWrongServer,  // the name leads to a private address, or the certificate does not hold, as behind
                 // a network's login page: later again
  kNotAllowed,   // what the request itself names: address, redirect, scheme, proxy, region
  kCancelled,    // by cancel(), by the end of Transfers, or by an error of the sink
};

struct TransferEnd {
  Status status = Done{};  // message: what failed, on which URL (OriginUrl::shown()), what to do
  Fault fault = Fault::kNone;  // kNone if and only if status.ok()
  // Of kPassing: how long the server asks not to be asked, at most kRetryAfterMaxS.
  std::optional<std::uint32_t> retry_after_s;
  bool reached = true;  // of kPassing: false: no server was found or connected to
};

inline constexpr std::uint32_t kRetryAfterMaxS = 3600;

}  // namespace firn::app
