#include "client/core/view/report.h"

#include "client/core/parts.h"

namespace firn::core {

Report report_of(const Parts& parts, ReportOn on) {
  Report r;
  r.peers = static_cast<std::uint32_t>(parts.membership.neighbours().size());
  r.bytes_received = parts.downlink.bytes_received();
  r.bytes_sent = parts.uplink.bytes_sent();
  r.blocks_sent = parts.uplink.blocks_sent();
  r.complete = parts.life.complete();
  if (parts.transfer) {
    const BlockCounts& counts = parts.transfer->receiving.counts();
    r.blocks_innovative = counts.innovative;
    r.blocks_redundant = counts.redundant;
    r.blocks_recoded = counts.recoded;
    r.blocks_refused = counts.refused;
    r.bytes_from_origins = parts.transfer->origins.bytes();
    const Holdings& holdings = parts.transfer->generations.holdings();
    r.bytes_verified = holdings.wanted().verified_bytes;
    r.bytes_wanted = holdings.wanted().bytes;
    r.rank = holdings.wanted().rank;
    r.rank_total = holdings.wanted().blocks;
    r.rank_of_all = holdings.total_rank();
    r.rank_total_of_all = holdings.shape().block_count();
    r.generations_verified = holdings.verified().count();
    r.generations_lost = holdings.given_up().count();
    if (r.generations_lost > 0) r.first_loss = parts.transfer->receiving.first_loss();
  }
  if (on == ReportOn::kNeighbours)
    r.neighbours = parts.membership.history().reports(parts.membership.neighbours());
  return r;
}

Counters counters_of(const Parts& parts) {
  Counters counters;
  counters.neighbours = static_cast<std::uint32_t>(parts.membership.neighbours().size());
  counters.walks = parts.membership.neighbours().walks();
  counters.blocks_sent = parts.uplink.blocks_sent();
  counters.progressed_at = parts.life.progressed_at();
  counters.foreign_manifest = parts.fetch.foreign();
  if (!parts.transfer) return counters;
  counters.rank = parts.transfer->generations.holdings().wanted().rank;
  counters.blocks_innovative = parts.transfer->receiving.counts().innovative;
  counters.blocks_redundant = parts.transfer->receiving.counts().redundant;
  return counters;
}

}  // namespace firn::core
