#include "client/app/page/metrics_text.h"

#include "client/app/session/peer_table.h"
#include "client/app/session/standstill_words.h"
#include "client/app/version.h"

namespace firn::app {
namespace {

using web::MetricsText;

constexpr const char* kContentStates[] = {
    "starting", "searching", "checking", "downloading", "seeding", "damaged", "stopping",
    "queued",   "waiting",   "paused",   "finished",    "failed",  "moving",  "removing"};

void add_counts(MetricsText& metrics, const char* name, const char* help, const char* label,
                const MetricsFacts::Counts& counts) {
  metrics.metric(name, "gauge", help);
  for (const auto& [what, count] : counts) metrics.sample({{label, what}}, count);
}

void add_totals(MetricsText& metrics, const MetricsFacts& facts) {
  const TransferCounts& counts = facts.counts;
  metrics.metric("firn_verified_bytes_total", "counter",
                 "Verified bytes of contents that came, by where from.");
  metrics.sample({{"source", "peers"}}, counts.from_peers);
  metrics.sample({{"source", "origins"}}, counts.from_origins);
  metrics.metric("firn_origin_bytes_total", "counter",
                 "Verified bytes of contents that came from origins, by their servers.");
  for (const auto& [server, bytes] : counts.origins) metrics.sample({{"origin", server}}, bytes);
  metrics.metric("firn_wasted_bytes_total", "counter",
                 "Bytes of blocks from peers that were of no use.");
  metrics.sample({{"reason", "redundant"}}, counts.redundant);
  metrics.sample({{"reason", "refused"}}, counts.refused);
  metrics.add("firn_received_bytes_total", "counter", "Bytes that peers sent, messages included.",
              counts.received);
  metrics.add("firn_sent_bytes_total", "counter", "Bytes sent to peers, messages included.",
              counts.sent);
}

// A metric of those contents of which `of` gives a value.
template <typename Of>
void add_of_contents(MetricsText& metrics, const MetricsFacts& facts, const char* name,
                     const char* type, const char* help, Of of) {
  metrics.metric(name, type, help);
  for (const MetricsFacts::Content& content : facts.contents) of(content);
}

void add_contents(MetricsText& metrics, const MetricsFacts& facts) {
  using Content = MetricsFacts::Content;
  add_of_contents(metrics, facts, "firn_content_info", "gauge", "The name of a content.",
                  [&](const Content& one) {
                    metrics.sample({{"content", one.id}, {"name", one.name}}, 1);
                  });
  add_of_contents(metrics, facts, "firn_content_state", "gauge", "1: the state of a content.",
                  [&](const Content& one) {
                    metrics.sample({{"content", one.id}, {"state", one.state}}, 1);
                  });
  add_of_contents(metrics, facts, "firn_content_waiting", "gauge",
                  "1: why nothing comes of what a content misses.", [&](const Content& one) {
                    if (!one.waits_for.empty())
                      metrics.sample({{"content", one.id}, {"reason", one.waits_for}}, 1);
                  });
  add_of_contents(metrics, facts, "firn_content_wanted_bytes", "gauge",
                  "Size of what is wanted of a content.", [&](const Content& one) {
                    metrics.sample({{"content", one.id}}, one.bytes_wanted);
                  });
  add_of_contents(metrics, facts, "firn_content_complete_ratio", "gauge",
                  "Part of it that is here, 0 to 1.", [&](const Content& one) {
                    if (one.share) metrics.sample({{"content", one.id}}, *one.share);
                  });
  add_of_contents(metrics, facts, "firn_content_peers", "gauge", "Connected peers of a content.",
                  [&](const Content& one) {
                    metrics.sample({{"content", one.id}}, one.peers);
                  });
  add_of_contents(
      metrics, facts, "firn_content_verified_bytes_total", "counter",
      "Verified bytes of a content that came, by where from.", [&](const Content& one) {
        metrics.sample({{"content", one.id}, {"source", "peers"}}, one.counts.from_peers);
        metrics.sample({{"content", one.id}, {"source", "origins"}}, one.counts.from_origins);
      });
  add_of_contents(
      metrics, facts, "firn_content_wasted_bytes_total", "counter",
      "Bytes of a content's blocks that were of no use.", [&](const Content& one) {
        metrics.sample({{"content", one.id}, {"reason", "redundant"}}, one.counts.redundant);
        metrics.sample({{"content", one.id}, {"reason", "refused"}}, one.counts.refused);
      });
  add_of_contents(metrics, facts, "firn_content_sent_bytes_total", "counter",
                  "Bytes sent to a content's peers.", [&](const Content& one) {
                    metrics.sample({{"content", one.id}}, one.counts.sent);
                  });
}

}  // namespace

MetricsFacts no_facts() {
  using core::Standstill;
  using core::WhyNot;
  MetricsFacts facts;
  for (const char* const state : kContentStates) facts.states[state] = 0;
  for (int kind = 0; kind <= static_cast<int>(Standstill::Kind::kSilent); ++kind)
    facts.waiting[standstill_name(static_cast<Standstill::Kind>(kind))] = 0;
  for (int why = 0; why <= static_cast<int>(WhyNot::kOthersFirst); ++why)
    facts.unserved_peers[why_not_name(static_cast<WhyNot>(why))] = 0;
  return facts;
}

MetricsText metrics_of(const MetricsFacts& facts) {
  MetricsText metrics;
  add_build(metrics, "firn_build_info", kVersion);
  add_counts(metrics, "firn_contents", "Contents in each state.", "state", facts.states);
  add_counts(metrics, "firn_waiting_contents",
             "Contents that miss something of which nothing comes, by the reason.", "reason",
             facts.waiting);
  add_counts(metrics, "firn_unserved_peers",
             "Connected peers to which no blocks go, by the reason.", "reason",
             facts.unserved_peers);
  metrics.add("firn_peers", "gauge", "Connected peers over all contents.", facts.peers);
  metrics.add("firn_failing_origins", "gauge", "Origins of contents that are not asked now.",
              facts.failing_origins);
  add_totals(metrics, facts);
  metrics.add("firn_unlisted_contents", "gauge",
              "Contents for which there was no room among the following.", facts.unlisted);
  add_contents(metrics, facts);
  add_process(metrics);
  return metrics;
}

}  // namespace firn::app
