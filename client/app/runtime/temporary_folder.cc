#include "client/app/runtime/temporary_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace firn::app {

std::string place_for_temporaries() {
  const char* const named = std::getenv("TMPDIR");
  if (named != nullptr && *named != '\0') return named;
  return ::access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::make() {
  const std::string place = place_for_temporaries();
  std::string path = place + "/firn-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return error_from_errno("make a temporary folder in " + place + " ($TMPDIR)", errno);
  return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace firn::app
