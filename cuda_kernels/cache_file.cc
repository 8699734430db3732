#include "cuda_kernels/cache_file.h"

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

std::string read_cache_file(const std::filesystem::path& path) {
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
  bool written = false;
  {
    std::ofstream file(part, std::ios::binary | std::ios::trunc);
    written = static_cast<bool>(file << text << std::flush);
  }
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
