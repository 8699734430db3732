#include "tests/sim/lab/web_server.h"

#include <algorithm>
#include <cmath>

namespace firn::sim {

namespace {

constexpr double kRest = 0.5;  // bytes: less is rounding

}  // namespace

void WebServer::advance(core::TimeUs now) {
  if (!transfers_.empty()) {
    const double each =
        up_ * static_cast<double>(now - now_) * 1e-6 / static_cast<double>(transfers_.size());
    for (Transfer& one : transfers_) {
      const double bytes = std::min(each, one.left);
      one.left -= bytes;
      sent_ += bytes;
    }
  }
  now_ = now;
}

void WebServer::ask(std::uint32_t peer, const core::FetchFromOrigin& run, core::TimeUs now) {
  advance(now);
  transfers_.push_back({peer, run.first, run.first + run.count, generation_bytes_});
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> WebServer::served(core::TimeUs now) {
  advance(now);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> served;
  for (Transfer& one : transfers_) {
    if (one.left > kRest) continue;
    served.emplace_back(one.peer, one.next++);
    one.left = generation_bytes_;
  }
  std::erase_if(transfers_, [](const Transfer& one) { return one.next == one.end; });
  return served;
}

core::TimeUs WebServer::next() const {
  if (transfers_.empty()) return core::kNever;
  const double least =
      std::ranges::min_element(transfers_, {}, [](const Transfer& one) { return one.left; })->left;
  return now_ + static_cast<core::TimeUs>(
                    std::ceil(least * static_cast<double>(transfers_.size()) / up_ * 1e6));
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> WebServer::fail(core::TimeUs now) {
  advance(now);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> lost;
  for (const Transfer& one : transfers_)
    for (std::uint32_t g = one.next; g < one.end; ++g) lost.emplace_back(one.peer, g);
  transfers_.clear();
  return lost;
}

}  // namespace firn::sim
