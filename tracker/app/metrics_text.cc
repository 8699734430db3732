#include "tracker/app/metrics_text.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "proto/base/commit.h"

namespace firn::tracker {
namespace {

constexpr const char* kReasons[] = {"unspecified", "malformed", "unknown_content", "too_large",
                                    "slow_down",   "internal",  "not_allowed"};
static_assert(std::size(kReasons) == std::tuple_size_v<RefusalCounts>);

// A metric of one value. `type`: counter or gauge.
template <typename Value>
void add(std::string& text, const char* name, const char* type, const char* help, Value value) {
  text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
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

// A gauge with a value for each listed publisher that has contents. `of`: of a publisher's line.
template <typename Of>
void add_of_publishers(std::string& text, const Snapshot& snapshot, const char* name,
                       const char* help, Of of) {
  if (snapshot.publishers.empty()) return;
  text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
  for (const Snapshot::PublisherLine& line : snapshot.publishers)
    text += fmt::format("{}{{publisher=\"{}\"}} {}\n", name, line.key.text(), of(line));
}

void add_publishers(std::string& text, const Snapshot& snapshot) {
  using Line = Snapshot::PublisherLine;
  add_of_publishers(text, snapshot, "firn_tracker_publisher_contents",
                    "Hosted manifests of a listed publisher.",
                    [](const Line& line) { return line.use.contents; });
  add_of_publishers(text, snapshot, "firn_tracker_publisher_contents_max", "Its bound; 0: none.",
                    [](const Line& line) { return line.limits.contents; });
  add_of_publishers(text, snapshot, "firn_tracker_publisher_manifest_bytes",
                    "Bytes of hosted manifests of a listed publisher.",
                    [](const Line& line) { return line.use.manifest_bytes; });
  add_of_publishers(text, snapshot, "firn_tracker_publisher_manifest_bytes_max",
                    "Its bound; 0: none.",
                    [](const Line& line) { return line.limits.manifest_bytes; });
  add_of_publishers(text, snapshot, "firn_tracker_publisher_peers",
                    "Peers over all contents of a listed publisher.",
                    [](const Line& line) { return line.use.peers; });
  add_of_publishers(text, snapshot, "firn_tracker_publisher_peers_max", "Its bound; 0: none.",
                    [](const Line& line) { return line.limits.peers; });
}

void add_process(std::string& text, const ProcessUse& process) {
  add(text, "process_cpu_seconds_total", "counter", "CPU time that the process took.",
      process.cpu_seconds);
  add(text, "process_resident_memory_bytes", "gauge", "Memory of the process that is in RAM.",
      process.resident_bytes);
  add(text, "process_open_fds", "gauge", "Open descriptors.", process.open_descriptors);
  add(text, "process_max_fds", "gauge", "Descriptors that may be open.", process.descriptors_max);
  add(text, "process_start_time_seconds", "gauge", "When the process began, since 1970.",
      process.started_at);
}

}  // namespace

ProcessUse process_use(double started_at) {
  ProcessUse use;
  rusage spent{};
  getrusage(RUSAGE_SELF, &spent);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  use.cpu_seconds = seconds(spent.ru_utime) + seconds(spent.ru_stime);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  use.descriptors_max = limit.rlim_cur;
  use.open_descriptors = open_descriptors();
  use.resident_bytes = resident_bytes();
  use.started_at = started_at;
  return use;
}

std::string metrics_text(const Snapshot& snapshot, const ProcessUse& process) {
  std::string text;
  text += "# HELP firn_tracker_build_info The program.\n# TYPE firn_tracker_build_info gauge\n";
  text += fmt::format("firn_tracker_build_info{{version=\"{}\",revision=\"{}\"}} 1\n", FIRN_VERSION,
                      build_commit());
  add(text, "firn_tracker_swarms", "gauge", "Contents that peers have announced.",
      snapshot.swarm_count);
  text += fmt::format(
      "# HELP firn_tracker_peers Peers over all swarms.\n# TYPE firn_tracker_peers gauge\n"
      "firn_tracker_peers{{complete=\"true\"}} {}\nfirn_tracker_peers{{complete=\"false\"}} {}\n",
      snapshot.complete_count, snapshot.incomplete_count);
  add(text, "firn_tracker_connections", "gauge", "Open connections.", snapshot.connection_count);
  add(text, "firn_tracker_connections_total", "counter",
      "Connections that have proven an identity.", snapshot.accepted_count);
  add(text, "firn_tracker_announces_total", "counter", "Announces that were answered.",
      snapshot.announce_count);
  text +=
      "# HELP firn_tracker_refusals_total Requests that were answered with an error.\n"
      "# TYPE firn_tracker_refusals_total counter\n";
  for (std::size_t code = 0; code < snapshot.refusals.size(); ++code)
    text += fmt::format("firn_tracker_refusals_total{{reason=\"{}\"}} {}\n", kReasons[code],
                        snapshot.refusals[code]);
  add(text, "firn_tracker_lag_seconds", "gauge",
      "How far the I/O thread that is behind most is behind.",
      std::chrono::duration<double>(snapshot.lag).count());
  add(text, "firn_tracker_database_failing", "gauge",
      "Shards of the contents that cannot be written to the database now.", snapshot.unwritten);
  add_publishers(text, snapshot);
  const RedisState& redis = snapshot.redis;
  add(text, "firn_tracker_redis_failing", "gauge",
      "1 while --redis is given and Redis cannot be used.", redis.used && !redis.connected ? 1 : 0);
  add(text, "firn_tracker_redis_lag_seconds", "gauge", "Since Redis last answered.",
      redis.used ? static_cast<double>(redis.lag_ms) / 1000 : 0.0);
  add(text, "firn_tracker_redis_losses_total", "counter", "How often Redis was lost.",
      redis.lost_count);
  add(text, "firn_tracker_redis_rejected_total", "counter",
      "Entries in Redis that no tracker wrote, and that were passed over.", redis.rejected_count);
  add_process(text, process);
  return text;
}

}  // namespace firn::tracker
