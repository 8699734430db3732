// A file of an origin on its way into a folder.
#include "client/app/origin/origin_download.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "client/store/posix_files.h"
#include "tests/app/temp_folder.h"

using namespace firn;
using namespace firn::app;
using namespace firn::tests;

namespace {

namespace fs = std::filesystem;

const std::string kUrl = "https://host.example/big.bin";

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Result<std::unique_ptr<OriginDownload>> tried(const TempFolder& folder, bool overwrite = false,
                                              const std::string& url = kUrl) {
  auto files = store::open_posix_files(folder.path(), true);
  REQUIRE(files.ok());
  return OriginDownload::open(*std::move(files), parse_origin(url).value(), "big.bin", overwrite);
}

std::unique_ptr<OriginDownload> opened(const TempFolder& folder, bool overwrite = false,
                                       const std::string& url = kUrl) {
  auto download = tried(folder, overwrite, url);
  REQUIRE_MESSAGE(download.ok(), (download.ok() ? "" : download.error().message()));
  return *std::move(download);
}

OriginFileState ten_bytes() {
  return {10, "\"tag\"", "Sun, 06 Nov 1994 08:49:37 GMT"};
}

std::size_t entries(const TempFolder& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
}

}  // namespace

TEST_CASE(
    "a file gets its name and the server's date when all of it has come, and nothing else stays") {
  TempFolder folder;
  {
    const auto download = opened(folder);
    CHECK(download->bytes() == 0);
    REQUIRE(download->begin(ten_bytes()).ok());
    REQUIRE(download->append(as_bytes("01234")).ok());
    CHECK_FALSE(fs::exists(folder.path() + "/big.bin"));
    REQUIRE(download->append(as_bytes("56789")).ok());
    REQUIRE(download->finish().ok());
  }
  CHECK(file_bytes(folder.path() + "/big.bin") == "0123456789");
  CHECK(entries(folder) == 1);
  struct stat file {};
  REQUIRE(::stat((folder.path() + "/big.bin").c_str(), &file) == 0);
  CHECK(file.st_mtime == 784111777);
}

TEST_CASE("a file gets the rights that the umask of the program's start leaves") {
  TempFolder folder;
  const auto download = opened(folder);
  REQUIRE(download->begin(ten_bytes()).ok());
  const mode_t mask = ::umask(0077);
  const Status finished = download->finish();
  CHECK(::umask(mask) == 0077);
  REQUIRE(finished.ok());
  struct stat file {};
  REQUIRE(::stat((folder.path() + "/big.bin").c_str(), &file) == 0);
  CHECK((file.st_mode & 0777) == (0664 & ~mask));
}

TEST_CASE("the next run has what came, and which state of the file that is") {
  TempFolder folder;
  {
    const auto download = opened(folder);
    REQUIRE(download->begin(ten_bytes()).ok());
    REQUIRE(download->append(as_bytes("01234")).ok());
  }
  const auto download = opened(folder);
  CHECK(download->bytes() == 5);
  CHECK(download->state().bytes == 10);
  CHECK(download->state().validator == "\"tag\"");
  REQUIRE(download->go_on().ok());
  REQUIRE(download->append(as_bytes("56789")).ok());
  REQUIRE(download->finish().ok());
  CHECK(file_bytes(folder.path() + "/big.bin") == "0123456789");
}

TEST_CASE("of a file whose state the server does not say nothing is gone on with") {
  TempFolder folder;
  {
    const auto download = opened(folder);
    REQUIRE(download->begin({10, "", ""}).ok());
    REQUIRE(download->append(as_bytes("01234")).ok());
  }
  CHECK(opened(folder)->bytes() == 0);
  CHECK(entries(folder) == 0);
}

TEST_CASE("a file that begins anew keeps no byte of before") {
  TempFolder folder;
  const auto download = opened(folder);
  REQUIRE(download->begin(ten_bytes()).ok());
  REQUIRE(download->append(as_bytes("01234567")).ok());
  REQUIRE(download->begin({2, "\"other\"", ""}).ok());
  CHECK(download->bytes() == 0);
  REQUIRE(download->append(as_bytes("ab")).ok());
  REQUIRE(download->finish().ok());
  CHECK(file_bytes(folder.path() + "/big.bin") == "ab");
}

TEST_CASE("what bears the name stays as it is, unless it is a file to be replaced") {
  TempFolder folder;
  std::ofstream(folder.path() + "/big.bin") << "mine";
  const auto refused = tried(folder);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kExists);
  CHECK(refused.error().message().find("--overwrite") != std::string::npos);
  CHECK(entries(folder) == 1);
  {
    const auto download = opened(folder, true);
    REQUIRE(download->begin(ten_bytes()).ok());
    REQUIRE(download->append(as_bytes("0123456789")).ok());
    CHECK(file_bytes(folder.path() + "/big.bin") == "mine");
    REQUIRE(download->finish().ok());
  }
  CHECK(file_bytes(folder.path() + "/big.bin") == "0123456789");
  fs::remove(folder.path() + "/big.bin");
  fs::create_directory(folder.path() + "/big.bin");
  CHECK_FALSE(tried(folder, true).ok());
}

TEST_CASE("a file that takes the name meanwhile stays, and what came stays too") {
  TempFolder folder;
  {
    const auto download = opened(folder);
    REQUIRE(download->begin(ten_bytes()).ok());
    REQUIRE(download->append(as_bytes("0123456789")).ok());
    std::ofstream(folder.path() + "/big.bin") << "mine";
    const Status finished = download->finish();
    REQUIRE_FALSE(finished.ok());
    CHECK(finished.error().code == ErrorCode::kExists);
  }
  CHECK(file_bytes(folder.path() + "/big.bin") == "mine");
  fs::remove(folder.path() + "/big.bin");
  CHECK(opened(folder)->bytes() == 10);
}

TEST_CASE("one download at a time has a name, whatever its URL") {
  TempFolder folder;
  const auto download = opened(folder);
  CHECK_FALSE(tried(folder).ok());
  CHECK_FALSE(tried(folder, false, "https://other.example/big.bin").ok());
}

TEST_CASE("no password and no signature of a URL is kept, and a new signature goes on") {
  TempFolder folder;
  {
    const auto download = opened(folder, false, "https://me:word@host.example/big.bin?sig=abc");
    REQUIRE(download->begin(ten_bytes()).ok());
    REQUIRE(download->append(as_bytes("01234")).ok());
  }
  std::size_t looked_at = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file()) continue;
    ++looked_at;
    CHECK(file_bytes(entry.path()).find("abc") == std::string::npos);
    CHECK(file_bytes(entry.path()).find("word") == std::string::npos);
  }
  CHECK(looked_at >= 2);
  CHECK(opened(folder, false, "https://host.example/big.bin?sig=def")->bytes() == 5);
  CHECK(opened(folder)->bytes() == 0);
}
