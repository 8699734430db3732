// The parser of PROXY headers: each header whole, and one byte at a time.
#include "proto/transport/proxy_header.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/transport/proxy_headers.h"
#include "tests/transport/recorder.h"

namespace firn::proto::transport::test {
namespace {

struct Read {
  bool refused = false;
  std::size_t taken = 0;  // bytes that were given before it was whole or refused
  bool whole = false;
  std::string source;  // empty: none
  std::string complaint;
  bool operator==(const Read&) const = default;
};

Read read(const Bytes& stream, std::size_t piece) {
  ProxyHeader header;
  Read outcome;
  while (header.wanted() > 0 && outcome.taken < stream.size()) {
    const std::size_t bytes = std::min({piece, header.wanted(), stream.size() - outcome.taken});
    const Status taken = header.take(std::span(stream).subspan(outcome.taken, bytes));
    outcome.taken += bytes;
    if (taken) continue;
    CHECK(taken.error().code == ErrorCode::kProtocol);
    outcome.refused = true;
    outcome.complaint = taken.error().detail;
    return outcome;
  }
  outcome.whole = header.wanted() == 0;
  if (outcome.whole && header.source()) outcome.source = header.source()->text();
  return outcome;
}

// However it arrives.
Read read(const Bytes& stream) {
  const Read whole = read(stream, stream.size());
  for (const std::size_t piece : {1, 2, 7, 16, 17}) {
    Read pieces = read(stream, piece);
    if (whole.refused) pieces.taken = whole.taken;  // the sooner, the better
    CHECK(pieces == whole);
  }
  return whole;
}

Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST_CASE("a header names the source of a TCP connection over IPv4 or IPv6") {
  CHECK(read(proxy_header(0x21, 0x11, kIpv4Addresses)).source == "192.0.2.33:4097");
  CHECK(read(proxy_header(0x21, 0x21, kIpv6Addresses)).source == "[2001:db8::33]:4097");
}

TEST_CASE("an IPv4 address within IPv6 is that IPv4 address") {
  Bytes mapped = kIpv6Addresses;
  const Bytes source = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 33};
  std::copy(source.begin(), source.end(), mapped.begin());
  CHECK(read(proxy_header(0x21, 0x21, mapped)).source == "192.0.2.33:4097");
}

TEST_CASE("not a byte behind the header is taken") {
  for (const Bytes& header : {proxy_header(0x21, 0x11, kIpv4Addresses),
                              proxy_header(0x20, 0x00, {}), proxy_header(0x21, 0x00, Bytes(700))}) {
    const Read outcome = read(joined(header, Bytes(100, 0x16)));
    CHECK(outcome.whole);
    CHECK(outcome.taken == header.size());
  }
}

TEST_CASE("what stands behind the addresses is passed over, however long it is") {
  const Bytes tlvs = {0x03, 0x00, 0x04, 1, 2, 3, 4};
  CHECK(read(proxy_header(0x21, 0x11, joined(kIpv4Addresses, tlvs))).source == "192.0.2.33:4097");
  const Bytes longest = joined(kIpv6Addresses, Bytes(65'535 - kIpv6Addresses.size(), 0xee));
  const Read outcome = read(proxy_header(0x21, 0x21, longest));
  CHECK(outcome.source == "[2001:db8::33]:4097");
  CHECK(outcome.taken == 65'551);
}

TEST_CASE("a header that names no TCP connection leaves the socket's address") {
  const auto names_none = [](const Bytes& header) {
    const Read outcome = read(header);
    return outcome.whole && outcome.source.empty();
  };
  CHECK(names_none(proxy_header(0x20, 0x11, kIpv4Addresses)));  // LOCAL: whatever else it says
  CHECK(names_none(proxy_header(0x20, 0xf7, {})));
  CHECK(names_none(proxy_header(0x21, 0x00, {})));  // unknown
  CHECK(names_none(proxy_header(0x21, 0x00, Bytes(40))));
  CHECK(names_none(proxy_header(0x21, 0x01, Bytes(40))));
  CHECK(names_none(proxy_header(0x21, 0x12, kIpv4Addresses)));  // UDP
  CHECK(names_none(proxy_header(0x21, 0x22, kIpv6Addresses)));
  CHECK(names_none(proxy_header(0x21, 0x31, Bytes(216, 'p'))));  // UNIX
}

TEST_CASE("a header that breaks the rules is refused") {
  struct Broken {
    const char* why;
    Bytes header;
  };
  const std::vector<Broken> all = {
      {"version", proxy_header(0x11, 0x11, kIpv4Addresses)},
      {"command", proxy_header(0x22, 0x11, kIpv4Addresses)},
      {"command", proxy_header(0x2f, 0x11, kIpv4Addresses)},
      {"family", proxy_header(0x21, 0x41, Bytes(216))},
      {"transport", proxy_header(0x21, 0x13, kIpv4Addresses)},
      {"fewer", proxy_header(0x21, 0x11, Bytes(11))},
      {"fewer", proxy_header(0x21, 0x21, kIpv4Addresses)},
      {"fewer", proxy_header(0x21, 0x31, Bytes(215))},
  };
  for (const Broken& broken : all) {
    CAPTURE(broken.why);
    const Read outcome = read(broken.header);
    CHECK(outcome.refused);
    CHECK(outcome.complaint.find(broken.why) != std::string::npos);
    CHECK(outcome.taken == 16);  // before any address
  }
}

TEST_CASE("a byte that does not belong to the signature is noticed when it comes") {
  const Bytes right = proxy_header(0x21, 0x11, kIpv4Addresses);
  for (std::size_t place = 0; place < 12; ++place) {
    Bytes wrong = right;
    wrong[place] ^= 0x20;
    const Read outcome = read(wrong, 1);
    CHECK(outcome.refused);
    CHECK(outcome.taken == place + 1);
  }
  const Bytes version1 = {'P', 'R', 'O', 'X', 'Y', ' ', 'T', 'C', 'P', '4', ' ', '1'};
  CHECK(read(version1).refused);
  CHECK(read({0x16, 0x03, 0x01}).refused);  // TLS
}

TEST_CASE("a header that is cut off is not whole") {
  const Bytes header = proxy_header(0x21, 0x21, joined(kIpv6Addresses, Bytes(9)));
  for (std::size_t bytes = 0; bytes < header.size(); ++bytes) {
    const Read outcome = read(Bytes(header.begin(), header.begin() + static_cast<long>(bytes)));
    CHECK_FALSE(outcome.whole);
    CHECK_FALSE(outcome.refused);
    CHECK(outcome.taken == bytes);
  }
  CHECK(read(header).whole);
}

}  // namespace
}  // namespace firn::proto::transport::test
