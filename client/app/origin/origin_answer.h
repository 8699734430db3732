// What an origin's answer says of the bytes that follow it, and whether they are those that were
// asked for. Pure: header lines in, judgement out. Bytes from the network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "client/app/origin/transfer_request.h"
#include "proto/base/result.h"

namespace firn::app {

inline constexpr std::size_t kAnswerHeaderBytesMax = 64 << 10;

struct OriginAnswer {
  int status = 0;                           // 100 to 599
  std::optional<std::uint64_t> body_bytes;  // Content-Length
  std::optional<FileRange> range;           // Content-Range of 206
  std::optional<std::uint64_t> size;  // of the whole file; from Content-Range, or of 200 its length
  std::string etag;                   // with its quotes, "W/" before them if it is weak; or empty
  std::string last_modified;          // as it is written; or empty
  std::string encoding;               // Content-Encoding in small letters; empty: none, or identity
  std::optional<std::uint32_t> retry_after_s;  // at most kRetryAfterMaxS
  std::string bucket_region;                   // x-amz-bucket-region of S3's errors; or empty
  std::string reason;                          // what the body says: reason_of_body(); or empty

  // The file's state, for later requests for it: a strong ETag, else the date of its last change,
  // else empty.
  std::string validator() const;
};

// Seconds since 1970 of an IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, section 5.6.7);
// nullopt: it is none, or one whose nanoseconds no 64 bits hold (after April 2262).
std::optional<std::int64_t> seconds_of_date(std::string_view date);

// `header`: status line and field lines, each ended by LF or CR LF, without an empty line at the
// end (which is ignored). `now_s`: seconds since 1970, for a Retry-After that is a date. Fields
// that are not needed are skipped unread. Errors: kProtocol: no HTTP status line; Content-Length,
// Content-Range, ETag or Last-Modified malformed, or there several times with different values;
// more than kAnswerHeaderBytesMax bytes.
Result<OriginAnswer> parse_answer(std::string_view header, std::int64_t now_s);

// "NoSuchKey: The specified key does not exist." of the body of an S3 server's error, or of its
// beginning; empty: it is none. Plain text of a line at most.
std::string reason_of_body(std::string_view body);

// Whether the bytes behind `answer` are those of `request`: kNone or the fault, in this order:
// status, encoding, validator, size, range, number of bytes. A 200 for a range is accepted if the
// range is all of the file. Redirects (3xx) are faults here: transfers.h follows them before.
// `where`: the URL that answered, as it may be shown, for messages.
TransferEnd check_answer(const TransferRequest& request, const OriginAnswer& answer,
                         const std::string& where);

// Of a folder's URL that is asked for as a file: why not, and what to do.
std::string folder_advice(const OriginUrl& folder);

}  // namespace firn::app
