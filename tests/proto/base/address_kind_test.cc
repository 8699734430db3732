#include "proto/base/address_kind.h"

#include <doctest/doctest.h>

namespace firn {
namespace {

TEST_CASE("an address is of the kind that its range says, to the last of it") {
  const std::pair<const char*, AddressKind> kinds[] = {
      {"127.0.0.1", AddressKind::kLoopback},
      {"127.255.255.255", AddressKind::kLoopback},
      {"128.0.0.1", AddressKind::kGlobal},
      {"0.0.0.0", AddressKind::kUnspecified},
      {"0.1.2.3", AddressKind::kUnspecified},
      {"169.254.169.254", AddressKind::kLinkLocal},
      {"169.255.0.1", AddressKind::kGlobal},
      {"224.0.0.251", AddressKind::kMulticast},
      {"255.255.255.255", AddressKind::kMulticast},
      {"223.255.255.255", AddressKind::kGlobal},
      {"10.1.2.3", AddressKind::kPrivate},
      {"172.16.0.1", AddressKind::kPrivate},
      {"172.31.255.255", AddressKind::kPrivate},
      {"172.32.0.1", AddressKind::kGlobal},
      {"192.168.0.1", AddressKind::kPrivate},
      {"100.64.0.1", AddressKind::kPrivate},
      {"100.128.0.1", AddressKind::kGlobal},
      {"192.0.2.7", AddressKind::kGlobal},
      {"192.0.0.192", AddressKind::kLinkLocal},
      {"192.0.1.0", AddressKind::kGlobal},
      {"168.63.129.16", AddressKind::kLinkLocal},
      {"168.63.129.15", AddressKind::kGlobal},
      {"168.63.129.17", AddressKind::kGlobal},
      {"::", AddressKind::kUnspecified},
      {"::1", AddressKind::kLoopback},
      {"::2", AddressKind::kUnspecified},
      {"fe80::1", AddressKind::kLinkLocal},
      {"febf::1", AddressKind::kLinkLocal},
      {"fec0::1", AddressKind::kPrivate},
      {"fd00::1", AddressKind::kPrivate},
      {"ff02::fb", AddressKind::kMulticast},
      {"2001:db8::1", AddressKind::kGlobal},
      {"tracker.example", AddressKind::kGlobal},
  };
  for (const auto& one : kinds) {
    CAPTURE(one.first);
    CHECK(address_kind(one.first) == one.second);
  }
}

TEST_CASE("an IPv4 address within an IPv6 one is judged as what it is") {
  for (const char* prefix : {"::ffff:", "64:ff9b::", "64:ff9b:1::", "::"}) {
    CAPTURE(prefix);
    CHECK(address_kind(std::string(prefix) + "127.0.0.1") == AddressKind::kLoopback);
    CHECK(address_kind(std::string(prefix) + "10.0.0.1") == AddressKind::kPrivate);
    CHECK(address_kind(std::string(prefix) + "192.0.2.7") == AddressKind::kGlobal);
  }
  CHECK(address_kind("64:ff9b::7f00:1") == AddressKind::kLoopback);
  CHECK(address_kind("2002:7f00:1::1") == AddressKind::kLoopback);
  CHECK(address_kind("2002:a9fe:a9fe::") == AddressKind::kLinkLocal);
  CHECK(address_kind("2002:a00:1:2:3::4") == AddressKind::kPrivate);
  CHECK(address_kind("2002:c000:207::1") == AddressKind::kGlobal);
}

TEST_CASE("a stranger names special addresses only where it has one of the same kind") {
  CHECK(may_be_named_by("192.0.2.1", "198.51.100.7", false));
  CHECK_FALSE(may_be_named_by("192.0.2.1", "127.0.0.1", true));
  CHECK_FALSE(may_be_named_by("10.0.0.1", "127.0.0.1", true));
  CHECK_FALSE(may_be_named_by("fe80::1", "127.0.0.1", true));
  CHECK(may_be_named_by("127.0.0.1", "127.0.0.2", false));
  CHECK(may_be_named_by("::1", "127.0.0.1", false));
  CHECK(may_be_named_by("169.254.0.1", "169.254.0.2", false));
  CHECK_FALSE(may_be_named_by("", "127.0.0.1", true));
}

TEST_CASE("private addresses are called by machines that have one") {
  for (const char* speaker : {"192.0.2.1", "10.0.0.1"}) {
    CHECK(may_be_named_by(speaker, "192.168.0.7", true));
    CHECK_FALSE(may_be_named_by(speaker, "192.168.0.7", false));
  }
}

}  // namespace
}  // namespace firn
