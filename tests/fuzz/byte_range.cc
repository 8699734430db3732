// A Range header and, behind a line end, the size of what it asks for: the answer lies within that
// size, and what Content-Range says of it asks for the same again.
#include "proto/web/byte_range.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "proto/base/result.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::byte_range {
using web::ByteRange;

FIRN_FUZZ_TARGET(byte_range) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view number = text.substr(std::min(end + 1, text.size()));
  std::uint64_t bytes = 0;
  (void)std::from_chars(number.data(), number.data() + number.size(), bytes);

  const ByteRange range = web::byte_range(text.substr(0, end), bytes);
  FIRN_CHECK(range.first <= bytes && range.bytes <= bytes - range.first);
  if (range.kind == ByteRange::Kind::kWhole) FIRN_CHECK(range.first == 0 && range.bytes == bytes);
  if (range.kind == ByteRange::Kind::kUnsatisfiable) FIRN_CHECK(range.bytes == 0);
  if (range.kind != ByteRange::Kind::kPart) return 0;
  FIRN_CHECK(range.bytes > 0);
  const std::string said = web::content_range(range, bytes);
  const std::string again =
      "bytes=" + said.substr(6, said.find('/') - 6);  // "bytes 1-2/3" as a request
  FIRN_CHECK(web::byte_range(again, bytes) == range);
  return 0;
}

}  // namespace firn::fuzz::byte_range
