#include "tests/load/process_use.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace firn::load {
namespace {

std::uint64_t page_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::string read_all(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::optional<ProcessUse> process_use(int pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const std::string stat = read_all(folder + "/stat");
  const std::size_t name_end = stat.rfind(')');  // a name may hold spaces
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;  // proc(5): utime is the 14th
  double user = 0, system = 0;
  fields >> user >> system;
  std::istringstream pages(read_all(folder + "/statm"));
  std::uint64_t size = 0, resident = 0;
  pages >> size >> resident;
  return ProcessUse{(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK)),
                    resident * page_bytes()};
}

std::uint64_t tcp_memory_bytes() {
  std::istringstream lines(read_all("/proc/net/sockstat"));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.rfind("TCP:", 0) != 0) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      std::uint64_t pages = 0;
      if (word == "mem" && words >> pages) return pages * page_bytes();
    }
  }
  return 0;
}

}  // namespace firn::load
