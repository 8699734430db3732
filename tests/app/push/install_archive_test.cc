#include "client/app/push/install_archive.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "client/app/push/program_copy.h"
#include "client/app/version.h"
#include "tests/app/temp_folder.h"

namespace firn::app {
namespace {

bool succeeds(const std::string& command) {
  return std::system(command.c_str()) == 0;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("an archive is for its machine, and for a glibc that is no older than it needs") {
  const ArchiveNeeds needs{"0.1.0", "x86_64", "2.36"};
  for (const char* fits : {"2.36", "2.37", "2.100", "3.0", "2.36.1", "2.41.9000"}) {
    CAPTURE(fits);
    CHECK(needs.refusal("x86_64", fits).empty());
  }
  for (const char* old : {"2.35", "2.9", "2.4", "1.99", "0.0"}) {
    CAPTURE(old);
    CHECK(says(needs.refusal("x86_64", old), "the host has glibc " + std::string(old)));
  }
  for (const char* none : {"-", "", "2", "2.", ".36", "2.36x", "2.-1", "2.99999999999", "musl"}) {
    CAPTURE(none);
    CHECK(says(needs.refusal("x86_64", none), "the host has no glibc"));
  }
  CHECK(says(needs.refusal("aarch64", "2.41"), "the host is aarch64, and the archive for x86_64"));
  // A host's words go to a terminal.
  CHECK_FALSE(says(needs.refusal("\x1b[2J", "2.41"), "\x1b"));
}

TEST_CASE("what an archive needs is read as it was written, and else not at all") {
  const ArchiveNeeds needs{"0.1.0", "x86_64", "2.36"};
  const auto read = ArchiveNeeds::parse(needs.text());
  REQUIRE(read);
  CHECK(read->text() == needs.text());
  for (const char* bad : {"", "firn 1\nmachine x86_64\n", "firn 1\nmachine x86_64\nglibc x\n",
                          "firn 1\nmachine \nglibc 2.36\n", "firn 1\nmachine \x1b\nglibc 2.36\n",
                          "firn\nmachine x86_64\nglibc 2.36\n"}) {
    CAPTURE(bad);
    CHECK_FALSE(ArchiveNeeds::parse(bad));
  }
}

TEST_CASE("glibc's libraries are the host's own, all others go along") {
  for (const char* own : {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
                          "libresolv.so.2", "libpthread.so.0"}) {
    CAPTURE(own);
    CHECK(is_of_glibc(own));
  }
  for (const char* other : {"libcrypto.so.3", "libmimalloc.so.2", "libcurl.so.4", "firn"}) {
    CAPTURE(other);
    CHECK_FALSE(is_of_glibc(other));
  }
}

TEST_CASE("a copy of this program runs elsewhere, and its archive may be named for the next push") {
  const auto own = InstallArchive::make("");
  REQUIRE(own.ok());
  CHECK(own->bytes() == std::filesystem::file_size(own->path()));
  CHECK(own->needs().firn == kVersion);
  CHECK(own->needs().refusal(own->needs().machine, own->needs().glibc).empty());

  const tests::TempFolder folder;
  const std::string kept = folder.path() + "/kept.tar.gz";
  std::filesystem::copy_file(own->path(), kept);
  REQUIRE(succeeds("tar -xzf " + kept + " -C " + folder.path()));
  const std::string top = folder.path() + "/firn-" + kVersion;
  REQUIRE(succeeds("cd " + top + " && sha256sum --quiet -c SHA256SUMS"));
  // The digest is that of remote_start.h's `sha256sum <SHA256SUMS`.
  CHECK(succeeds("[ \"$(sha256sum <" + top + "/SHA256SUMS)\" = '" + own->digest() + "  -' ]"));
  CHECK_FALSE(std::filesystem::exists(top + "/lib/libc.so.6"));
  // Its libraries are those of the folder, and what it starts does not see where they are.
  CHECK(succeeds("env -i " + top + "/bin/firn --version >" + folder.path() + "/said"));
  CHECK(says(tests::file_bytes(folder.path() + "/said"), "doctest"));
  if (std::filesystem::exists(top + "/lib/libstdc++.so.6")) {
    std::filesystem::remove(top + "/lib/libstdc++.so.6");
    std::ofstream(top + "/lib/libstdc++.so.6") << "no library";
    CHECK_FALSE(succeeds("env -i " + top + "/bin/firn --version >/dev/null 2>&1"));
  }

  const auto named = InstallArchive::make(kept);
  REQUIRE(named.ok());
  CHECK(named->path() == kept);
  CHECK(named->digest() == own->digest());
  CHECK(named->needs().text() == own->needs().text());
}

TEST_CASE("a file that is no portable archive is refused with what makes one") {
  const tests::TempFolder folder;
  const std::string file = folder.path() + "/archive";
  SUBCASE("absent") {}
  SUBCASE("no tar.gz") {
    std::ofstream(file) << "text";
  }
  SUBCASE("another tar.gz") {
    std::filesystem::create_directory(folder.path() + "/other");
    REQUIRE(succeeds("tar -czf " + file + " -C " + folder.path() + " other"));
  }
  SUBCASE("a folder") {
    std::filesystem::create_directory(file);
  }
  const auto refused = InstallArchive::make(file);
  REQUIRE_FALSE(refused.ok());
  CHECK(says(refused.error().message(), file));
  CHECK(says(refused.error().message(), "scripts/package --portable"));
}

}  // namespace
}  // namespace firn::app
