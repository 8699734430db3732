#include "client/core/neighbour/untold.h"

#include <algorithm>

namespace firn::core {

Untold::Spans Untold::take_spans(std::vector<std::uint32_t>& generations, std::size_t spans_max) {
  Spans spans;
  std::sort(generations.begin(), generations.end());
  std::size_t told = 0;
  for (const std::uint32_t g : generations) {
    const std::uint32_t end = spans.empty() ? 0 : spans.back().first + spans.back().count;
    if (!spans.empty() && end > g) {
      ++told;  // told already in this very message
      continue;
    }
    if (!spans.empty() && end == g) {
      ++spans.back().count;
    } else {
      if (spans.size() == spans_max) break;
      spans.push_back({g, 1});
    }
    ++told;
  }
  generations.erase(generations.begin(), generations.begin() + static_cast<std::ptrdiff_t>(told));
  return spans;
}

void Untold::begin(std::vector<std::uint32_t> complete, std::vector<std::uint32_t> unwanted,
                   std::vector<std::uint32_t> withdrawn, std::vector<std::uint32_t> changed) {
  complete_ = std::move(complete);
  unwanted_ = std::move(unwanted);
  withdrawn_ = std::move(withdrawn);
  changed_ = std::move(changed);
  begun_ = true;
  reported_ = 0;
  connections_told_ = 0;
  due_ = kNever;
  if (log_) told_to_ = log_->mark();
  touch();
}

void Untold::suspend() {
  begun_ = false;
  touch();
}

void Untold::report_terms() {
  terms_ = urgent_ = true;
  touch();
}

void Untold::report(std::uint32_t g) {
  if (!pending()) touch();
  note(g);
}

void Untold::stir() {
  resting_ = false;
  if (begun_ && !pending()) touch();
}

void Untold::note(std::uint32_t g) {
  const auto at = std::lower_bound(changed_.begin(), changed_.end(), g);
  if (at == changed_.end() || *at != g) changed_.insert(at, g);
}

void Untold::report_complete(std::uint32_t g) {
  touch();
  std::erase(changed_, g);
  std::erase(unwanted_, g);
  std::erase(withdrawn_, g);
  complete_.push_back(g);
}

void Untold::report_verified(std::uint32_t g) {
  null_vectors_.erase(g);
  report_complete(g);
  urgent_ = true;
}

void Untold::report_withdrawn(std::uint32_t g) {
  touch();
  std::erase(complete_, g);
  unwanted_.push_back(g);
  withdrawn_.push_back(g);
}

void Untold::report_unwanted(const std::vector<std::uint32_t>& generations,
                             const GenerationSet& settled) {
  std::erase_if(unwanted_, [&](std::uint32_t g) { return !settled.contains(g); });
  if (generations.empty()) return;
  unwanted_.insert(unwanted_.end(), generations.begin(), generations.end());
  urgent_ = true;
  touch();
}

void Untold::report_lost(std::uint32_t g) {
  std::erase(complete_, g);
  urgent_ = true;
  touch();
}

void Untold::attach_null_vector(std::uint32_t g, const std::vector<std::uint8_t>& z) {
  null_vectors_[g] = z;
  report(g);
}

void Untold::arrived(std::uint32_t sequence) {
  arrived_ = sequence;
  touch();
}

std::uint32_t Untold::take_connections(std::uint32_t connections) {
  if (connections_told_ == connections) return 0;
  return connections_told_ = connections;
}

std::vector<std::uint32_t> Untold::take_changed(std::size_t count_max) {
  if (log_ && log_->any_since(told_to_)) {
    log_->each_since(told_to_, [this](std::uint32_t g) { note(g); });
    told_to_ = log_->mark();
  }
  const auto end =
      changed_.begin() + static_cast<std::ptrdiff_t>(std::min(changed_.size(), count_max));
  std::vector<std::uint32_t> taken(changed_.begin(), end);
  changed_.erase(changed_.begin(), end);
  return taken;
}

std::vector<std::uint8_t> Untold::take_null_vector(std::uint32_t g) {
  const auto it = null_vectors_.find(g);
  if (it == null_vectors_.end()) return {};
  std::vector<std::uint8_t> z = std::move(it->second);
  null_vectors_.erase(it);
  return z;
}

bool Untold::report_due(TimeUs now) {
  if (now - reported_ < kReportInterval) return false;
  reported_ = now;
  return true;
}

void Untold::told(TimeUs now) {
  last_state_ = now;
  urgent_ = terms_ = false;
  touch();
  if (!log_ || resting_ || pending()) return;
  resting_ = true;
  log_->rests(peer_);
}

}  // namespace firn::core
