#include "client/core/send/socket_line.h"

namespace firn::core {

void SocketLine::update(const Neighbour& n) {
  if (n.pipe.queued() == 0) return neighbour_left(n.key);
  const auto [known, fresh] = since_.try_emplace(n.key, n.pipe.waiting_since());
  if (!fresh) {
    if (known->second == n.pipe.waiting_since()) return;
    waiting_.erase({known->second, n.key});
    known->second = n.pipe.waiting_since();
  }
  waiting_.emplace(known->second, n.key);
}

void SocketLine::neighbour_left(PeerKey peer) {
  const auto known = since_.find(peer);
  if (known == since_.end()) return;
  waiting_.erase({known->second, peer});
  since_.erase(known);
}

std::uint32_t SocketLine::busy(TimeUs now, std::uint32_t most) const {
  std::uint32_t busy = 0;
  for (auto it = waiting_.rbegin(); it != waiting_.rend() && busy < most; ++it) {
    if (it->first + patience_ <= now) break;
    ++busy;
  }
  return busy;
}

TimeUs SocketLine::next_stuck(TimeUs now) const {
  const auto next = waiting_.upper_bound({now - patience_, UINT64_MAX});
  return next == waiting_.end() ? kNever : next->first + patience_;
}

}  // namespace firn::core
