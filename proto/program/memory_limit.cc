#include "proto/program/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace firn {
namespace {

// Version 1 has no word for "none", and tells the largest number of whole pages.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;

std::optional<std::uint64_t> number_in(const std::string& file) {
  std::ifstream opened(file);
  std::uint64_t number = 0;
  if (!(opened >> number) || number >= kNoLimit) return std::nullopt;  // "max" is no number
  return number;
}

// The least limit of the group `path` and those above it.
std::optional<std::uint64_t> least_of(const std::string& mounted, std::string path,
                                      const std::string& file) {
  std::optional<std::uint64_t> least;
  for (;;) {
    while (path.ends_with('/')) path.pop_back();
    if (const auto limit = number_in(mounted + path + "/" + file))
      least = std::min(least.value_or(*limit), *limit);
    if (path.empty()) return least;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

bool names_memory(const std::string& controllers) {
  return ("," + controllers + ",").find(",memory,") != std::string::npos;
}

}  // namespace

// Lines of NUMBER:CONTROLLERS:PATH; version 2 has one, of the number 0 and without controllers.
std::optional<std::uint64_t> memory_limit_of(const std::string& groups,
                                             const std::string& mounted) {
  std::istringstream lines(groups);
  std::optional<std::uint64_t> least;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    std::optional<std::uint64_t> limit;
    if (controllers.empty()) limit = least_of(mounted, path, "memory.max");
    if (names_memory(controllers))
      limit = least_of(mounted + "/memory", path, "memory.limit_in_bytes");
    if (limit) least = std::min(least.value_or(*limit), *limit);
  }
  return least;
}

std::optional<std::uint64_t> memory_limit() {
  std::ifstream opened("/proc/self/cgroup");
  const std::string groups{std::istreambuf_iterator<char>(opened), {}};
  return memory_limit_of(groups, "/sys/fs/cgroup");
}

}  // namespace firn
