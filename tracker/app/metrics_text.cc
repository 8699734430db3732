#include "tracker/app/metrics_text.h"

#include <iterator>

namespace firn::tracker {
namespace {

using web::MetricsText;

constexpr const char* kReasons[] = {"unspecified", "malformed", "unknown_content", "too_large",
                                    "slow_down",   "internal",  "not_allowed"};
static_assert(std::size(kReasons) == std::tuple_size_v<RefusalCounts>);

// A gauge with a value for each listed publisher that has contents. `of`: of a publisher's line.
template <typename Of>
void add_of_publishers(MetricsText& metrics, const Snapshot& snapshot, const char* name,
                       const char* help, Of of) {
  if (snapshot.publishers.empty()) return;
  metrics.metric(name, "gauge", help);
  for (const Snapshot::PublisherLine& line : snapshot.publishers)
    metrics.sample({{"publisher", line.key.text()}}, of(line));
}

void add_publishers(MetricsText& metrics, const Snapshot& snapshot) {
  using Line = Snapshot::PublisherLine;
  add_of_publishers(metrics, snapshot, "firn_tracker_publisher_contents",
                    "Hosted manifests of a listed publisher.",
                    [](const Line& line) { return line.use.contents; });
  add_of_publishers(metrics, snapshot, "firn_tracker_publisher_contents_max", "Its bound; 0: none.",
                    [](const Line& line) { return line.limits.contents; });
  add_of_publishers(metrics, snapshot, "firn_tracker_publisher_manifest_bytes",
                    "Bytes of hosted manifests of a listed publisher.",
                    [](const Line& line) { return line.use.manifest_bytes; });
  add_of_publishers(metrics, snapshot, "firn_tracker_publisher_manifest_bytes_max",
                    "Its bound; 0: none.",
                    [](const Line& line) { return line.limits.manifest_bytes; });
  add_of_publishers(metrics, snapshot, "firn_tracker_publisher_peers",
                    "Peers over all contents of a listed publisher.",
                    [](const Line& line) { return line.use.peers; });
  add_of_publishers(metrics, snapshot, "firn_tracker_publisher_peers_max", "Its bound; 0: none.",
                    [](const Line& line) { return line.limits.peers; });
}

void add_redis(MetricsText& metrics, const RedisState& redis) {
  metrics.add("firn_tracker_redis_failing", "gauge",
              "1 while --redis is given and Redis cannot be used.",
              redis.used && !redis.connected ? 1 : 0);
  metrics.add("firn_tracker_redis_lag_seconds", "gauge", "Since Redis last answered.",
              redis.used ? static_cast<double>(redis.lag_ms) / 1000 : 0.0);
  metrics.add("firn_tracker_redis_losses_total", "counter", "How often Redis was lost.",
              redis.lost_count);
  metrics.add("firn_tracker_redis_rejected_total", "counter",
              "Entries in Redis that no tracker wrote, and that were passed over.",
              redis.rejected_count);
}

}  // namespace

MetricsText metrics_of(const Snapshot& snapshot) {
  MetricsText metrics;
  add_build(metrics, "firn_tracker_build_info", FIRN_VERSION);
  metrics.add("firn_tracker_swarms", "gauge", "Contents that peers have announced.",
              snapshot.swarm_count);
  metrics.metric("firn_tracker_peers", "gauge", "Peers over all swarms.");
  metrics.sample({{"complete", "true"}}, snapshot.complete_count);
  metrics.sample({{"complete", "false"}}, snapshot.incomplete_count);
  metrics.add("firn_tracker_connections", "gauge", "Open connections.", snapshot.connection_count);
  metrics.add("firn_tracker_connections_total", "counter",
              "Connections that have proven an identity.", snapshot.accepted_count);
  metrics.add("firn_tracker_announces_total", "counter", "Announces that were answered.",
              snapshot.announce_count);
  metrics.metric("firn_tracker_refusals_total", "counter",
                 "Requests that were answered with an error.");
  for (std::size_t code = 0; code < snapshot.refusals.size(); ++code)
    metrics.sample({{"reason", kReasons[code]}}, snapshot.refusals[code]);
  metrics.add("firn_tracker_lag_seconds", "gauge",
              "How far the I/O thread that is behind most is behind.",
              std::chrono::duration<double>(snapshot.lag).count());
  metrics.add("firn_tracker_database_failing", "gauge",
              "Shards of the contents that cannot be written to the database now.",
              snapshot.unwritten);
  add_publishers(metrics, snapshot);
  add_redis(metrics, snapshot.redis);
  add_process(metrics);
  return metrics;
}

}  // namespace firn::tracker
