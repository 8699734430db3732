#include "client/core/view/history.h"

#include <utility>

namespace firn::core {

constexpr std::size_t kHistoryMax = 1000;  // neighbours that have left, in a report; costs memory

void History::make_room(const Neighbours& present) {
  if (past_.size() < kHistoryMax + present.size()) return;
  auto least = past_.end();
  for (auto it = past_.begin(); it != past_.end(); ++it) {
    if (present.contains(it->first)) continue;
    const auto moved = [](const auto& entry) {
      return entry->second.report.blocks_received + entry->second.report.blocks_sent;
    };
    if (least == past_.end() || moved(it) < moved(least)) least = it;
  }
  if (least != past_.end()) past_.erase(least);
}

void History::add(NeighbourReport& report, const Neighbour& n) {
  report.complete = n.holds.has_everything();
  report.rank = n.holds.total_rank();
  report.blocks_received += n.grants.blocks_received();
  report.blocks_innovative += n.traffic.blocks_innovative();
  report.blocks_recoded += n.traffic.blocks_recoded();
  report.blocks_sent += n.pipe.blocks_sent();
}

void History::came(const Neighbour& n, const Neighbours& present) {
  make_room(present);
  Past& past = past_[n.id];
  past.report.id = n.id;
  past.report.endpoint = n.contact.endpoint();
  past.ip = n.contact.ip();
}

std::string History::ip_of(const PeerId& id) const {
  const auto known = past_.find(id);
  return known == past_.end() ? std::string() : known->second.ip;
}

void History::left(const Neighbour& n) {
  NeighbourReport& report = past_[n.id].report;
  add(report, n);
  // A block counts once it has left this machine. The last one of a small content may not have when
  // its receiver has everything and goes.
  const bool moved = report.blocks_received > 0 || report.blocks_sent > 0;
  if (!moved && !report.complete) past_.erase(n.id);
}

std::vector<NeighbourReport> History::reports(const Neighbours& present) const {
  std::map<PeerId, NeighbourReport> all;
  for (const auto& [id, past] : past_) all[id] = past.report;
  for (const Neighbour& n : present) add(all[n.id], n);
  std::vector<NeighbourReport> result;
  result.reserve(all.size());
  for (auto& [id, report] : all) result.push_back(std::move(report));
  return result;
}

}  // namespace firn::core
