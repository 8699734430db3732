#include "client/app/daemon/content_queue.h"

#include <algorithm>
#include <tuple>

namespace firn::app {

std::vector<QueuePlace> places_of(const std::vector<QueueEntry>& entries,
                                  const QueueLimits& limits) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].wants) order.push_back(i);
  std::ranges::stable_sort(order, [&](std::size_t one, std::size_t other) {
    const QueueEntry &a = entries[one], &b = entries[other];
    return std::tuple(a.yields, -a.priority, a.position) <
           std::tuple(b.yields, -b.priority, b.position);
  });
  std::vector<QueuePlace> places(entries.size());
  std::size_t downloads = 0, seeds = 0;
  for (const std::size_t i : order) {
    const std::size_t most = entries[i].seeds ? limits.seeds : limits.downloads;
    const std::size_t number = ++(entries[i].seeds ? seeds : downloads);
    places[i].runs = most == 0 || number <= most;
    if (!places[i].runs) places[i].waits_as = number - most;
  }
  for (const std::size_t i : order)
    places[i].others_wait = entries[i].seeds
                                ? limits.seeds != 0 && seeds > limits.seeds
                                : limits.downloads != 0 && downloads > limits.downloads;
  return places;
}

const char* priority_name(std::int64_t priority) {
  return priority > 0 ? "high" : priority < 0 ? "low" : "normal";
}

std::optional<std::int64_t> priority_of(std::string_view name) {
  for (const std::int64_t priority : {1, 0, -1})
    if (name == priority_name(priority)) return priority;
  return std::nullopt;
}

void QueueProgress::session_began(core::TimeUs now) {
  rank_ = 0;
  moved_at_ = now;
}

void QueueProgress::sample(std::uint64_t rank, bool works, bool others_wait, core::TimeUs patience,
                           core::TimeUs now) {
  if (rank > rank_) {
    // The first rank of a session may be what an earlier one has left.
    if (rank_ != 0) yields_ = 0;
    rank_ = rank;
    moved_at_ = now;
  } else if (works) {
    moved_at_ = now;
  } else if (others_wait && now - moved_at_ >= patience) {
    ++yields_;
    moved_at_ = now;
  }
}

}  // namespace firn::app
