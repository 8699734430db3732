#include "proto/program/input_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace firn {
namespace {

struct SparseFile {
  explicit SparseFile(off_t bytes) {
    const int fd = ::mkstemp(path.data());
    REQUIRE(fd >= 0);
    REQUIRE(::ftruncate(fd, bytes) == 0);
    ::close(fd);
  }
  ~SparseFile() { ::unlink(path.c_str()); }
  SparseFile(const SparseFile&) = delete;
  std::string path = "/tmp/firn-input-XXXXXX";
};

long peak_kib() {
  rusage usage{};
  REQUIRE(::getrusage(RUSAGE_SELF, &usage) == 0);
  return usage.ru_maxrss;
}

TEST_CASE("a file that is too large is refused by its size, and takes no memory") {
  const SparseFile file(off_t{1} << 40);
  const long before = peak_kib();
  const auto read = read_input_file(file.path, 200 << 20);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().code == ErrorCode::kBadInput);
  CHECK(peak_kib() - before < 50 << 10);
}

TEST_CASE("a file of just the size that is allowed is read") {
  const SparseFile file(1000);
  CHECK(read_input_file(file.path, 1000).value() == std::string(1000, '\0'));
  CHECK_FALSE(read_input_file(file.path, 999).ok());
}

}  // namespace
}  // namespace firn
