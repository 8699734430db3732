// Which bytes of a representation a request asks for: the headers Range and If-Range (RFC 9110,
// sections 14.2 and 13.1.5). Bytes from the network.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace firn::web {

struct ByteRange {
  enum class Kind {
    kWhole,          // 200
    kPart,           // 206
    kUnsatisfiable,  // 416
  };
  Kind kind = Kind::kWhole;
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;  // of the answer: those from `first` on; 0 if unsatisfiable

  bool operator==(const ByteRange&) const = default;
};

// What `range`, which may be empty, asks of `size` bytes. A header with a fault, of another unit or
// with several ranges is ignored, as section 14.2 allows: the answer is the whole.
ByteRange byte_range(std::string_view range, std::uint64_t size);

// Whether `if_range` lets Range count for what has the strong `etag` (with its quotes). A weak one
// or a date does not: no answer of ours has such.
bool range_holds(std::string_view if_range, std::string_view etag);

// The header Content-Range of 206 and 416.
std::string content_range(const ByteRange& range, std::uint64_t size);

}  // namespace firn::web
