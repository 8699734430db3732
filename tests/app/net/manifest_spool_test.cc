#include "client/app/net/manifest_spool.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <string>

namespace firn::app {
namespace {

long peak_kib() {
  rusage usage{};
  REQUIRE(::getrusage(RUSAGE_SELF, &usage) == 0);
  return usage.ru_maxrss;
}

TEST_CASE("a manifest is the same in memory, in a file, and where it moves to one") {
  for (const std::size_t memory : {0, 5, 8, 1000}) {
    CAPTURE(memory);
    ManifestSpool spool(memory);
    CHECK(spool.bytes().value().empty());
    for (const char* part : {"FIRN", "MAN1", "", "and more"}) REQUIRE(spool.append(part).ok());
    CHECK(spool.size() == 16);
    CHECK(spool.bytes().value() == "FIRNMAN1and more");
  }
}

TEST_CASE("a stranger's manifest of any size takes its share of memory and no more") {
  constexpr std::size_t kPart = 256 << 10, kParts = 1024;  // the largest there may be
  ManifestSpool spool(4 << 20);
  const std::string part(kPart, 'x');
  const long before = peak_kib();
  for (std::size_t i = 0; i < kParts; ++i) REQUIRE(spool.append(part).ok());
  CHECK(spool.size() == kPart * kParts);
  CHECK(peak_kib() - before < 32 << 10);
}

TEST_CASE("where there is no room for it, that is an error") {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  ::setenv("TMPDIR", "/nowhere/at/all", 1);
  ManifestSpool spool(4);
  REQUIRE(spool.append("1234").ok());
  CHECK_FALSE(spool.append("5").ok());
  before ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace firn::app
