// An open file on a POSIX system.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/store/files.h"
#include "client/store/write_ways.h"

namespace firn::store {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

// All but the kind is read from `status`.
FileStat stat_of(const struct stat& status, FileKind kind);

// `path` is for errors. `ways`: large writes may go past the page cache.
std::shared_ptr<File> make_posix_file(Descriptor descriptor, std::string path,
                                      std::shared_ptr<WriteWays> ways = nullptr);

// Sets what allowed_mode() leaves of `mode`, if there is one, and the time. False if the file
// system refuses, as some do for every file (FAT, network shares, FUSE).
Result<bool> set_descriptor_attributes(int descriptor, std::optional<std::uint32_t> mode,
                                       std::int64_t modified_ns, const std::string& operation);

}  // namespace firn::store
