// What `firn push --install` sends to hosts that have no firn: a tar.gz with one folder, which
// remote_start.h installs. The folder's NEEDS names the hosts on which it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/app/runtime/temporary_folder.h"
#include "proto/base/result.h"

namespace firn::app {

// The text of NEEDS: lines `firn 0.1.0`, `machine x86_64`, `glibc 2.36`.
struct ArchiveNeeds {
  std::string firn;
  std::string machine;  // as of uname -m
  std::string glibc;    // the oldest that will do

  // Empty if a host with this machine and glibc (`-`: none) runs the archive's firn; otherwise why
  // not, and what to do. The host's words may be anything.
  std::string refusal(std::string_view host_machine, std::string_view host_glibc) const;

  std::string text() const;
  // nullopt if a line is missing or no version.
  static std::optional<ArchiveNeeds> parse(std::string_view text);
};

class InstallArchive {
 public:
  // Of `given`, an archive of scripts/package --portable. If that is empty: of the folder that this
  // program runs from, if it is such an archive's; else of a copy of this program (program_copy.h),
  // which needs a glibc that is no older than this machine's. Call it before a GPU's driver is
  // loaded, which would be copied too. Takes seconds: it runs tar.
  static Result<InstallArchive> make(const std::string& given);

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }
  // SHA-256 of the folder's SHA256SUMS, in hexadecimal: the DIGEST of remote_start.h.
  const std::string& digest() const { return digest_; }
  const ArchiveNeeds& needs() const { return needs_; }

 private:
  InstallArchive() = default;

  std::unique_ptr<TemporaryFolder> folder_;  // holds what was made
  std::string path_;
  std::uint64_t bytes_ = 0;
  std::string digest_;
  ArchiveNeeds needs_;
};

}  // namespace firn::app
