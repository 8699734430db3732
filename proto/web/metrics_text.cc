#include "proto/web/metrics_text.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "proto/base/commit.h"
#include "proto/base/plain_text.h"

namespace firn::web {
namespace {

// Prometheus refuses an answer as a whole for one byte that is not UTF-8.
std::string label_value(std::string_view text) {
  std::string value;
  for (const char c : to_plain_text(escaped(text), MetricsText::kLabelBytesMax)) {
    if (c == '\\' || c == '"') value += '\\';
    value += c;
  }
  return value;
}

double cpu_seconds() {
  rusage spent{};
  getrusage(RUSAGE_SELF, &spent);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(spent.ru_utime) + seconds(spent.ru_stime);
}

std::uint64_t resident_bytes() {
  std::uint64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t open_descriptors() {
  std::error_code error;
  std::uint64_t count = 0;
  for (auto it = std::filesystem::directory_iterator("/proc/self/fd", error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error))
    ++count;
  return count;
}

std::uint64_t descriptors_max() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

// In seconds since 1970: field 22 of proc_pid_stat(5) is in ticks since the machine began.
double started_at() {
  std::string stat;
  std::getline(std::ifstream("/proc/self/stat"), stat);
  std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  double ticks = 0;
  fields >> ticks;
  timespec now{}, since_boot{};
  clock_gettime(CLOCK_REALTIME, &now);
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const auto seconds = [](const timespec& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  return seconds(now) - seconds(since_boot) + ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

void MetricsText::metric(const char* name, const char* type, const char* help) {
  name_ = name;
  text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

std::string MetricsText::quoted(Labels labels) {
  if (labels.size() == 0) return "";
  std::string text;
  for (const auto& [label, value] : labels)
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "{" : ",", label, label_value(value));
  return text + "}";
}

void add_process(MetricsText& metrics) {
  static const double began_at = started_at();  // the same each time, whatever the clock does
  metrics.add("process_cpu_seconds_total", "counter", "CPU time that the process took.",
              cpu_seconds());
  metrics.add("process_resident_memory_bytes", "gauge", "Memory of the process that is in RAM.",
              resident_bytes());
  metrics.add("process_open_fds", "gauge", "Open descriptors.", open_descriptors());
  metrics.add("process_max_fds", "gauge", "Descriptors that may be open.", descriptors_max());
  metrics.add("process_start_time_seconds", "gauge", "When the process began, since 1970.",
              began_at);
}

void add_build(MetricsText& metrics, const char* name, std::string_view version) {
  metrics.metric(name, "gauge", "The program.");
  metrics.sample({{"version", version}, {"revision", build_commit()}}, 1);
}

Response metrics_response(const MetricsText& metrics) {
  Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = metrics.text();
  return response;
}

}  // namespace firn::web
