#include "cuda_kernels/runtime/cache_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

namespace firn::cuda {

std::string default_cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/firn";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/firn" : std::string();
}

namespace {

// Whether `path` is free, or a file that this program keeps there, perhaps a damaged one: costs are
// a JSON object, a tuning begins with its name.
bool is_ours(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return true;
  if (!std::filesystem::is_regular_file(status)) return false;
  const std::string text = read_cache_file(path);
  return text.empty() || text.starts_with('{') || text.starts_with("firn gpu tuning");
}

// True: all of it is in a new file at `path`.
bool write_new_file(const std::filesystem::path& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return close(fd) == 0 && written;
}

}  // namespace

std::string read_cache_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};  // a FIFO would wait for ever
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return text;
}

void write_cache_file(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::filesystem::path part = path;
  part += ".part" + cache_hash(std::to_string(reinterpret_cast<std::uintptr_t>(&part)) +
                               std::to_string(getpid()));
  if (!is_ours(path)) return;
  const bool written = write_new_file(part, text);
  if (written) std::filesystem::rename(part, path, error);
  if (!written || error) std::filesystem::remove(part, error);
}

// FNV-1a.
std::string cache_hash(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3u;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (int shift = 60; shift >= 0; shift -= 4) hex += kDigits[hash >> shift & 15];
  return hex;
}

}  // namespace firn::cuda
