#include "tests/sim/checker.h"

#include <algorithm>
#include <utility>

#include "codec/encode.h"
#include "codec/kernels.h"
#include "tests/core/facts.h"
#include "tests/sim/network.h"

namespace firn::sim {

Checker::Checker(const Shape& shape, const Disk& disk, bool keeps_quota, std::uint64_t memory_bytes,
                 Note note)
    : shape_(shape),
      disk_(disk),
      keeps_quota_(keeps_quota),
      memory_bytes_(memory_bytes),
      note_(std::move(note)) {
  verified_ = static_cast<std::uint32_t>(disk.verified.size());
}

void Checker::check(bool right, const char* rule) {
  if (!right) note_(rule);
}

std::uint32_t Checker::rank(std::uint32_t g) const {
  if (disk_.verified.contains(g)) return shape_.blocks_in(g);
  const auto first = disk_.rows.lower_bound({g, 0}), last = disk_.rows.lower_bound({g + 1, 0});
  return static_cast<std::uint32_t>(std::distance(first, last));
}

// --- what it hears ---

void Checker::heard(core::PeerKey peer, const proto::PeerMessage& message, bool understood) {
  if (!understood) return;
  Line& line = lines_[peer];
  lines_max_ = std::max(lines_max_, lines_.size());
  if (const auto* state = std::get_if<proto::State>(&message)) heard_state(line, *state);
  if (const auto* block = std::get_if<proto::Block>(&message)) {
    line.arrived = std::max(line.arrived, block->sequence);
    if (block->state) heard_state(line, *block->state);
  }
}

void Checker::heard_state(Line& line, const proto::State& state) {
  line.credit = std::max(line.credit, state.credit);
  while (!line.in_flight.empty() && line.in_flight.front().first <= state.acknowledged) {
    line.in_flight.pop_front();
  }
  for (const proto::Span& span : state.complete) {
    // If such a generation is lost again, it begins anew.
    const auto in_span = [&](const auto& entry) {
      return entry.second >= span.first && entry.second - span.first < span.count;
    };
    std::erase_if(line.in_flight, in_span);
    for (std::uint32_t g = span.first; g < span.first + span.count; ++g) line.quota.erase(g);
  }
  for (const auto& entry : state.generations) line.quota[entry.generation] = entry.quota;
}

// --- what it does ---

void Checker::does(const core::Action& action) {
  check(!finished_, "an action after Finished");
  if (std::holds_alternative<core::Finished>(action)) finished_ = true;
  if (const auto* close = std::get_if<core::Close>(&action)) lines_.erase(close->peer);
  if (const auto* send = std::get_if<core::SendBlock>(&action)) sends(*send);
  if (const auto* send = std::get_if<core::Send>(&action)) {
    check(!std::holds_alternative<proto::Block>(send->message), "a block without its payload");
    const auto* state = std::get_if<proto::State>(&send->message);
    if (state) tells(lines_[send->peer], *state);
  }
  if (std::holds_alternative<core::StoreRow>(action)) stores();
}

// A quarter of the memory is for rows that wait for the disk, and for eight at least. What was
// granted to a peer that seemed lost may come all the same: a window of each neighbour.
void Checker::stores() {
  rows_waiting_max = std::max(rows_waiting_max, ++rows_waiting);
  const std::uint64_t room = std::max<std::uint64_t>(memory_bytes_ / 4 / shape_.block_bytes, 8);
  check(rows_waiting <= room + lines_max_ * test::facts::kWindowAtStart,
        "more rows than memory for");
}

void Checker::tells(Line& line, const proto::State& state) {
  check(state.acknowledged == line.arrived, "an acknowledgement of something else than came");
  check(state.credit >= line.granted, "credit taken back");
  check(state.credit >= state.acknowledged, "less credit than was used");
  check(state.credit - state.acknowledged <= test::facts::kWindowLargest,
        "a grant beyond any window");
  line.granted = state.credit;
  for (const proto::Span& span : state.complete) {
    for (std::uint32_t g = span.first; g < span.first + span.count; ++g) {
      check(disk_.verified.contains(g), "told complete, and is not");
    }
  }
  for (const auto& entry : state.generations) {
    check(entry.rank == rank(entry.generation), "told a rank it does not have");
  }
}

void Checker::sends(const core::SendBlock& send) {
  Line& line = lines_[send.peer];
  const proto::Block& block = send.block;
  check(block.sequence > line.sequence, "a sequence number that does not rise");
  check(block.sequence <= line.credit, "a block beyond the credit");
  line.sequence = block.sequence;
  const auto quota = line.quota.find(block.generation);
  const auto in_flight = std::count_if(line.in_flight.begin(), line.in_flight.end(),
                                       [&](const auto& b) { return b.second == block.generation; });
  if (keeps_quota_ && quota != line.quota.end()) {
    check(in_flight < static_cast<std::ptrdiff_t>(quota->second), "a block beyond the quota");
  }
  check(in_flight < shape_.blocks_in(block.generation), "more in flight than a generation has");
  line.in_flight.emplace_back(block.sequence, block.generation);
  if (block.state) tells(line, *block.state);
  check_vector(send);
}

void Checker::check_vector(const core::SendBlock& send) {
  const proto::Block& block = send.block;
  if (send.slots.empty()) {
    check(disk_.verified.contains(block.generation), "a block of what is not held");
    check(!block.recoded, "called recoded, and is not");
    return;
  }
  check(block.recoded, "recoded, and not called so");
  const std::uint32_t blocks = shape_.blocks_in(block.generation);
  if (block.source_index) return check_plain(send);
  check(block.coefficients.size() == blocks, "a vector of wrong length");
  std::vector<const std::uint8_t*> rows;
  for (const std::uint32_t slot : send.slots) {
    const auto row = disk_.rows.find({block.generation, slot});
    if (row == disk_.rows.end()) return note_("a mix of a slot that is empty");
    check(row->second.vector != block.coefficients, "forwarded as it came");
    rows.push_back(row->second.vector.data());
  }
  std::vector<std::uint8_t> mixed(blocks);
  codec::mix_vectors(codec::kernels(), send.mix, rows, mixed);
  check(mixed == block.coefficients, "a vector that the mix does not make");
  check(!disk_.betrays(send), "a false block that it answers for");
}

// A source block that it holds as a row.
void Checker::check_plain(const core::SendBlock& send) {
  const proto::Block& block = send.block;
  check(send.slots.size() == 1 && send.mix == std::vector<std::uint8_t>{1}, "a source block mixed");
  const auto row = disk_.rows.find({block.generation, send.slots.front()});
  if (row == disk_.rows.end()) return note_("a source block from an empty slot");
  check(row->second.vector ==
            codec::unit_vector(shape_.blocks_in(block.generation), *block.source_index),
        "a source block that is none");
  check(!disk_.betrays(send), "a false block that it answers for");
}

// --- what it reports ---

void Checker::rested(core::SwarmCore& core, core::TimeUs now, core::TimeUs wake) {
  check(wake >= now, "wants to wake in the past");
  if (now / core::kSecond != second_) rests_in_second_ = 0;
  second_ = now / core::kSecond;
  check(++rests_in_second_ < 50'000, "no rest");
  if (++rests_ % 16 != 0 || !core.started()) return;
  const core::Report report = core.report();
  check(report.rank <= report.rank_total, "rank above the total");
  check(report.generations_verified >= verified_, "verified generations fall");
  check(report.generations_verified == disk_.verified.size(), "verified what the disk has not");
  verified_ = report.generations_verified;
  std::uint64_t held = disk_.rows.size();
  for (const auto& [g, bytes] : disk_.verified) held += shape_.blocks_in(g);
  check(report.rank == held, "rank is not what the disk holds");
}

}  // namespace firn::sim
