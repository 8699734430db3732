// A PROXY header says the same, or is refused, however it arrives, and takes no byte behind itself.
#include "proto/transport/proxy_header.h"

#include <algorithm>
#include <string>

#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::proxy_header {
namespace {

using firn::proto::transport::ProxyHeader;

constexpr std::size_t kHeaderBytesMax = 16 + 65'535;

struct Outcome {
  bool refused = false;
  std::size_t left = 0;  // wanted, or behind it
  std::string source;
  bool operator==(const Outcome&) const = default;
};

Outcome read(std::span<const std::uint8_t> stream, std::size_t piece) {
  ProxyHeader header;
  while (header.wanted() > 0 && !stream.empty()) {
    FIRN_CHECK(header.wanted() <= kHeaderBytesMax);
    const auto part = stream.first(std::min({piece, stream.size(), header.wanted()}));
    stream = stream.subspan(part.size());
    if (!header.take(part)) return {true, 0, ""};
  }
  if (header.wanted() > 0) return {false, header.wanted(), ""};
  return {false, stream.size(), header.source() ? header.source()->text() : "none"};
}

}  // namespace

FIRN_FUZZ_TARGET(proxy_header) {
  const std::span stream(data, size);
  const Outcome whole = read(stream, std::max<std::size_t>(size, 1));
  for (const std::size_t piece : {1, 3, 16, 52}) FIRN_CHECK(read(stream, piece) == whole);
  return 0;
}

}  // namespace firn::fuzz::proxy_header
