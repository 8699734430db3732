#include "client/app/push/program_copy.h"

#include <link.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace firn::app {
namespace {

namespace fs = std::filesystem;

struct Loaded {
  std::string loader;                  // the dynamic loader, from the program's PT_INTERP
  std::vector<std::string> libraries;  // paths by which they were loaded, without glibc's
};

// `data`: a Loaded.
int add_object(dl_phdr_info* object, std::size_t, void* data) {
  Loaded& loaded = *static_cast<Loaded*>(data);
  const std::string path = object->dlpi_name;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type != PT_INTERP) continue;
    loaded.loader = reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
    return 0;  // the program itself
  }
  // What has no path is the kernel's.
  if (path.starts_with('/') && !is_of_glibc(fs::path(path).filename())) {
    loaded.libraries.push_back(path);
  }
  return 0;
}

}  // namespace

bool is_of_glibc(const std::string& file_name) {
  static constexpr std::array<std::string_view, 14> kNames = {
      "ld-linux",     "libanl",  "libc",       "libdl",       "libm",
      "libmvec",      "libnsl",  "libnss_dns", "libpthread",  "libresolv",
      "libthread_db", "libutil", "librt",      "libnss_files"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    return file_name.starts_with(std::string(name) + ".so") ||
           (name == "ld-linux" && file_name.starts_with(name));
  });
}

std::string program_path() {
  std::error_code ignored;
  const fs::path running = fs::read_symlink("/proc/self/exe", ignored);
  return is_of_glibc(running.filename()) ? program_invocation_name : running.string();
}

Result<bool> copy_program(const std::string& top) {
  Loaded loaded;
  ::dl_iterate_phdr(&add_object, &loaded);
  if (loaded.loader.empty()) {
    return Error{ErrorCode::kUnsupported, "copy this program",
                 "it is linked statically; name an archive with --install-archive"};
  }
  const fs::path root(top);
  std::error_code problem;
  std::string doing;
  const auto copy = [&](const std::string& from, const fs::path& to) {
    if (problem) return;
    doing = "copy " + from + " to " + to.string();
    fs::create_directories(to.parent_path(), problem);
    // Of a link its file.
    if (!problem) fs::copy_file(from, to, problem);
  };
  copy(program_path(), root / "libexec/firn");
  for (const std::string& library : loaded.libraries) {
    copy(library, root / "lib" / fs::path(library).filename());
  }
  if (problem) return error_from_errno(doing, problem.value());
  fs::create_directory(root / "bin", problem);
  std::ofstream start(root / "bin/firn");
  start << "#!/bin/sh\n"
           "top=${0%/*}/..\n"
           "exec "
        << loaded.loader << " --library-path \"$top/lib\" \"$top/libexec/firn\" \"$@\"\n";
  start.close();
  if (!problem && !start) problem = std::make_error_code(std::errc::io_error);
  if (!problem) fs::permissions(root / "bin/firn", fs::perms(0755), problem);
  if (problem) return error_from_errno("write " + (root / "bin/firn").string(), problem.value());
  return true;
}

}  // namespace firn::app
