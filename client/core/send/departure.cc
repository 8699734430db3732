#include "client/core/send/departure.h"

#include <algorithm>
#include <utility>

#include "codec/encode.h"
#include "codec/span_basis.h"

namespace firn::core {

constexpr std::size_t kRowsPerRank = 4;  // times n: more rows of a generation prove no more
// Rows on the way to one neighbour, which may never acknowledge any.
constexpr std::size_t kOnTheWayMax = 4096;

void Departure::sent(PeerKey peer, std::uint32_t sequence, std::uint32_t generation,
                     std::optional<std::uint32_t> source_index,
                     std::vector<std::uint8_t> coefficients) {
  auto& waiting = on_the_way_[peer];
  waiting[sequence] = {peer, generation, source_index, std::move(coefficients)};
  if (waiting.size() > kOnTheWayMax) waiting.erase(waiting.begin());  // proves nothing any more
}

void Departure::failed(PeerKey peer, std::uint32_t sequence) {
  const auto it = on_the_way_.find(peer);
  if (it != on_the_way_.end()) it->second.erase(sequence);
}

void Departure::acknowledged(PeerKey peer, std::uint32_t sequence) {
  const auto it = on_the_way_.find(peer);
  if (it == on_the_way_.end()) return;
  auto& waiting = it->second;
  while (!waiting.empty() && waiting.begin()->first <= sequence) {
    SentRow& row = waiting.begin()->second;
    std::vector<SentRow>& arrived = rows_[row.generation];
    if (arrived.size() < kRowsPerRank * shape_.blocks_in(row.generation))
      arrived.push_back(std::move(row));
    waiting.erase(waiting.begin());
  }
}

void Departure::gone(PeerKey peer) {
  on_the_way_.erase(peer);
  for (std::vector<SentRow>& rows : rows_) {
    std::erase_if(rows, [peer](const SentRow& row) { return row.peer == peer; });
  }
  proven_ = GenerationSet(shape_.generation_count());
}

bool Departure::proven(std::uint32_t g, const Neighbours& neighbours) const {
  std::map<PeerKey, std::uint32_t> claimed;
  for (const Neighbour& n : neighbours) {
    if (!n.holds.heard()) continue;
    if (n.holds.complete().contains(g)) return true;
    claimed[n.key] = n.holds.rank(g);
  }
  const std::uint32_t blocks = shape_.blocks_in(g);
  if (rows_[g].size() < blocks) return false;
  std::map<PeerKey, std::uint32_t> counted;
  for (const SentRow& row : rows_[g]) ++counted[row.peer];
  codec::SpanBasis together(blocks);
  for (const SentRow& row : rows_[g]) {
    const auto claim = claimed.find(row.peer);
    if (claim == claimed.end()) continue;
    // Rows of a source are independent but for very few, so its rank is not below their number.
    if (claim->second < std::min(counted[row.peer], blocks)) continue;
    together.insert(row.source_index ? codec::unit_vector(blocks, *row.source_index)
                                     : row.coefficients);
  }
  return together.full();
}

bool Departure::safe(const Neighbours& neighbours) {
  for (const Neighbour& n : neighbours)
    if (n.holds.heard()) wanted_.add_all(n.holds.settled().complement());
  const GenerationSet& needed =
      wanted_.count() > 0 ? wanted_ : GenerationSet::of_all(wanted_.size());
  for (std::uint32_t g = needed.next_common(0, needed, proven_); g < needed.size();
       g = needed.next_common(g + 1, needed, proven_)) {
    if (!proven(g, neighbours)) return false;
    proven_.add(g);
  }
  return !neighbours.empty();
}

}  // namespace firn::core
