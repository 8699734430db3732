#include "proto/program/output_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "proto/program/log_file.h"
#include "tests/app/temp_folder.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void make(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::size_t entries(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

constexpr const char* kLine = "[2026-01-31 23:59:59.999] [firn] [info] said\n";

TEST_CASE("a file is written where nothing stands, and over an older one of its kind") {
  const tests::TempFolder folder;
  const OutputFile file(folder.path() + "/x.firn", kManifestFile);
  CHECK(file.write("FIRNMAN1 old").ok());
  CHECK(file.write("FIRNMAN1 new").ok());
  CHECK(text_of(file.path()) == "FIRNMAN1 new");
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("two that write the same new file at once both succeed") {
  const tests::TempFolder folder;
  for (int round = 0; round < 50; ++round) {
    const OutputFile file(folder.path() + "/" + std::to_string(round), kManifestFile);
    bool other = false;
    std::thread thread([&] { other = file.write("FIRNMAN1 other").ok(); });
    CHECK(file.write("FIRNMAN1 one").ok());
    thread.join();
    CHECK(other);
    CHECK(text_of(file.path()).starts_with("FIRNMAN1 o"));
  }
  CHECK(entries(folder.path()) == 50);
}

TEST_CASE("a file of another kind is in the way, and stays") {
  const tests::TempFolder folder;
  const std::string path = folder.path() + "/x";
  for (const std::string& text : {std::string(), std::string("FIRNMA"), std::string("photo")}) {
    make(path, text);
    for (const FileKind& kind : {kManifestFile, kFiguresFile, kKeyFile}) {
      const Status written = OutputFile(path, kind).write("FIRNMAN1");
      REQUIRE_FALSE(written.ok());
      CHECK(written.error().code == ErrorCode::kExists);
      CHECK(written.error().message().find(path) != std::string::npos);
      CHECK(text_of(path) == text);
    }
  }
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("figures are known by their first key") {
  const tests::TempFolder folder;
  const OutputFile file(folder.path() + "/x.json", kFiguresFile);
  for (const char* text : {"{\n \"cells\": [", "{\"date\":\"2026\""}) {
    make(file.path(), text);
    CHECK(file.check().ok());
  }
  make(file.path(), "{\"dependencies\": {}}");
  CHECK_FALSE(file.check().ok());
}

TEST_CASE("a private file is its owner's alone, and never replaces one") {
  const tests::TempFolder folder;
  const OutputFile file(folder.path() + "/key.pem", kKeyFile);
  CHECK(file.write_new_private("one").value());
  struct stat status {};
  REQUIRE(::stat(file.path().c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
  CHECK_FALSE(file.write_new_private("two").value());
  CHECK(text_of(file.path()) == "one");
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("no name and no folder are errors before anything is written") {
  const tests::TempFolder folder;
  CHECK(OutputFile("", kManifestFile).check().error().code == ErrorCode::kBadInput);
  const OutputFile below(folder.path() + "/no/x.firn", kManifestFile);
  CHECK(below.check().error().code == ErrorCode::kNotFound);
  CHECK(below.write("FIRNMAN1").error().code == ErrorCode::kNotFound);
}

TEST_CASE("an output is apart from what is read") {
  const tests::TempFolder folder;
  const std::string source = folder.path() + "/source";
  fs::create_directories(source + "/below");
  fs::create_directory(folder.path() + "/source-2");
  const auto apart = [&](const std::string& path, const std::string& from) {
    return OutputFile(folder.path() + path, kManifestFile).check_apart(from);
  };
  CHECK(apart("/source/x", source).error().code == ErrorCode::kBadInput);
  CHECK(apart("/source/below/x", source + "/").error().code == ErrorCode::kBadInput);
  CHECK(apart("/source-2/../source/x", source).error().code == ErrorCode::kBadInput);
  CHECK(apart("/source-2/x", source).ok());
  CHECK(apart("/x", source).ok());
  CHECK(apart("/source/x", folder.path() + "/missing").ok());
  make(source + "/file", "FIRNMAN1");
  CHECK(apart("/source/file", source + "/file").error().code == ErrorCode::kExists);
  CHECK(apart("/source/other", source + "/file").ok());
}

TEST_CASE("a log goes on where an older one ends") {
  const tests::TempFolder folder;
  const std::string path = folder.path() + "/log";
  { CHECK(LogFile::open(path).value().write(kLine).ok()); }
  { CHECK(LogFile::open(path).value().write("more\n").ok()); }
  CHECK(text_of(path) == std::string(kLine) + "more\n");
  for (const char* text : {"[2026-01-31 23:59:59.999] [other] [info] said\n", "[202", "\n"}) {
    make(path, text);
    CHECK(LogFile::open(path).error().code == ErrorCode::kExists);
    CHECK(text_of(path) == text);
  }
}

TEST_CASE("a log that was moved away is begun anew when told so, and not before") {
  const tests::TempFolder folder;
  const std::string path = folder.path() + "/log";
  LogFile log = LogFile::open(path).value();
  CHECK(log.write(kLine).ok());
  fs::rename(path, path + ".1");
  CHECK(log.write("old\n").ok());
  CHECK(log.reopen().ok());
  CHECK(log.write("new\n").ok());
  CHECK(text_of(path + ".1") == std::string(kLine) + "old\n");
  CHECK(text_of(path) == "new\n");
}

TEST_CASE("a log keeps to its file if another one took the name") {
  const tests::TempFolder folder;
  const std::string path = folder.path() + "/log";
  LogFile log = LogFile::open(path).value();
  fs::rename(path, path + ".1");
  make(path, "mine");
  CHECK_FALSE(log.reopen().ok());
  CHECK(log.write(kLine).ok());
  CHECK(text_of(path + ".1") == kLine);
  CHECK(text_of(path) == "mine");
}

TEST_CASE("a reader of a FIFO that is slow costs lines, one that is gone is an error") {
  const tests::TempFolder folder;
  const std::string path = folder.path() + "/fifo";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  std::signal(SIGPIPE, SIG_IGN);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  LogFile log = LogFile::open(path).value();
  for (int line = 0; line < 100'000; ++line) REQUIRE(log.write("a line of some length\n").ok());
  ::close(reader);
  CHECK(log.write(kLine).error().code == ErrorCode::kIo);
  CHECK_FALSE(log.reopen().ok());  // nobody reads it
}

}  // namespace
}  // namespace firn
