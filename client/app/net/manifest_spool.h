// The bytes of a manifest that comes from the network, in parts. Nothing shows that they are right
// before all of them are there, and a stranger may send 256 MiB: so what goes beyond a share of
// memory lies in a file without a name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/base/result.h"
#include "proto/base/unique_fd.h"

namespace firn::app {

// One thread at a time.
class ManifestSpool {
 public:
  explicit ManifestSpool(std::size_t memory_max) : memory_max_(memory_max) {}
  ~ManifestSpool();
  ManifestSpool(const ManifestSpool&) = delete;
  ManifestSpool& operator=(const ManifestSpool&) = delete;

  // Errors: as errno says, of the folder for temporary files.
  Status append(std::string_view bytes);
  std::uint64_t size() const { return size_; }
  // All of them, while it lives and nothing is appended. Those of a file are read as they are
  // looked at. Errors: as errno says.
  Result<std::string_view> bytes();

 private:
  Status write(std::string_view bytes);

  const std::size_t memory_max_;
  std::uint64_t size_ = 0;
  std::string memory_;
  UniqueFd file_;  // then memory_ is empty
  void* mapped_ = nullptr;
};

}  // namespace firn::app
