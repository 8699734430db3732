// The manifest of a file whose bytes come in order from elsewhere.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include "client/content/create.h"

namespace firn::content {
namespace {

// A file with these bytes, gone afterwards.
class FileOf {
 public:
  explicit FileOf(const std::string& bytes) {
    const int descriptor = ::mkstemp(path_.data());
    REQUIRE(descriptor >= 0);
    REQUIRE(::write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    ::close(descriptor);
  }
  ~FileOf() { std::remove(path_.c_str()); }
  FileOf(const FileOf&) = delete;
  FileOf& operator=(const FileOf&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/firn-stream-XXXXXX";
};

std::string drawn_bytes(std::size_t size) {
  std::mt19937_64 random(size);
  std::string bytes(size, 0);
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

CreateOptions small_generations() {
  CreateOptions options;
  options.generation_size = 4;
  options.block_bytes = 4096;
  options.threads = 4;
  return options;
}

// Gives bytes in order, and fails where it is asked for more than it has.
ReadNext source_of(const std::string& bytes, std::size_t& given) {
  return [&](std::span<std::uint8_t> out) -> Status {
    if (given + out.size() > bytes.size())
      return Error{ErrorCode::kUnreachable, "read the source", "it has no more"};
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(given), out.size(), out.begin());
    given += out.size();
    return Done{};
  };
}

TEST_CASE("bytes that come in order give the manifest of the file that they are") {
  for (const std::size_t size : {0, 1, 100'000, 1'234'567}) {
    const std::string bytes = drawn_bytes(size);
    const FileOf file_here(bytes);
    const auto expected = create_manifest(file_here.path(), small_generations());
    REQUIRE(expected.ok());
    FileEntry file = expected->info.files.front();
    file.path = expected->info.name;
    std::size_t given = 0;
    const auto made = create_manifest_of(file, source_of(bytes, given), small_generations());
    REQUIRE(made.ok());
    CHECK(made->id == expected->id);
    CHECK(given == size);
  }
}

TEST_CASE("the error of a source whose bytes end early is that of the manifest") {
  const std::string bytes = drawn_bytes(100'000);
  FileEntry file;
  file.path = "file";
  file.bytes = 200'000;
  std::size_t given = 0;
  const auto made = create_manifest_of(file, source_of(bytes, given), small_generations());
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code == ErrorCode::kUnreachable);
}

TEST_CASE("a name that no content may have is refused before a byte is read") {
  FileEntry file;
  file.path = "a:b";
  file.bytes = 10;
  std::size_t given = 0;
  const std::string bytes(10, 'x');
  CHECK_FALSE(create_manifest_of(file, source_of(bytes, given), small_generations()).ok());
  CHECK(given == 0);
}

}  // namespace
}  // namespace firn::content
