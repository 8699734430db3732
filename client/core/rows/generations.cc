#include "client/core/rows/generations.h"

#include <memory>
#include <utility>

#include "client/core/base/constants.h"

namespace firn::core {
namespace {

constexpr std::size_t kShutTold = 16;  // generations told of where no more may be opened [062]

// Of these, in turn from `next` on, those that are offered: `count` at most, of `looks` looked at.
std::vector<std::uint32_t> in_turn(const std::set<std::uint32_t>& all, std::uint32_t& next,
                                   const std::function<bool(std::uint32_t)>& offered,
                                   std::uint64_t count, std::size_t looks) {
  std::vector<std::uint32_t> chosen;
  auto g = all.lower_bound(next);
  for (std::size_t looked = 0; looked < looks && chosen.size() < count; ++looked) {
    if (g == all.end()) g = all.begin();
    if (offered(*g)) chosen.push_back(*g);
    next = *g++ + 1;
  }
  return chosen;
}

// Of a unit vector; else kCoded.
std::uint32_t source_block_of(const std::vector<std::uint8_t>& vector) {
  const auto zero = [](std::uint8_t coefficient) { return coefficient == 0; };
  const auto first = std::find_if_not(vector.begin(), vector.end(), zero);
  const bool unit =
      first != vector.end() && *first == 1 && std::all_of(first + 1, vector.end(), zero);
  return unit ? static_cast<std::uint32_t>(first - vector.begin()) : kCoded;
}

}  // namespace

Generations::Generations(const Shape& shape, std::uint64_t memory_bytes)
    : memory_bytes_(memory_bytes), holdings_(shape) {}

std::vector<std::uint32_t> Generations::restore(const StartState& state, TimeUs now) {
  for (std::uint32_t g = 0; g < state.verified.size() && g < holdings_.generation_count(); ++g) {
    if (state.verified[g]) holdings_.set_verified(g);
  }
  std::vector<std::uint32_t> all_there;
  for (const ResumedRow& row : state.rows) {
    if (row.generation >= holdings_.generation_count() || !holdings_.wants(row.generation) ||
        row.vector.size() != holdings_.blocks_in(row.generation)) {
      continue;
    }
    const auto vector = std::make_shared<const std::vector<std::uint8_t>>(row.vector);
    // That a row is true stays true whatever became of its sender. A source block may go out as one
    // only if it is (plain_fetch.h), so what is not proven counts as coded.
    const std::uint32_t source_block =
        row.standing == Standing::kProven ? source_block_of(row.vector) : kCoded;
    const Holdings::Origin origin{row.sender, false, row.standing, source_block};
    if (!holdings_.restore(row.generation, row.slot, vector, origin, now)) continue;
    if (full(row.generation)) all_there.push_back(row.generation);
  }
  return all_there;
}

// Vectors (twice, holdings.h) and their reduced forms stay in memory wherever payloads go, 3 n^2
// bytes for a generation; the shape is a stranger's choice, so what may be open at once depends on
// it.
std::uint64_t Generations::room() const {
  const std::uint64_t n = holdings_.generation_size();
  return std::min(std::max(memory_bytes_ / 4 / (3 * n * n), kOpenMin), disk_room_);
}

std::optional<std::uint32_t> Generations::close_one(TimeUs now) {
  if (holdings_.open().size() < 2) return std::nullopt;
  std::optional<std::uint32_t> least;
  for (const auto& [g, open] : holdings_.open()) {
    if (!open.decoding && (!least || open.rows <= holdings_.rank(*least))) least = g;
  }
  if (!least) return std::nullopt;
  disk_room_ = holdings_.open().size() - 1;
  widen_at_ = now + kRoomAgainAfter;
  return least;
}

void Generations::widen(TimeUs now) {
  if (now < widen_at_) return;
  disk_room_ *= 2;
  widen_at_ = disk_room_ < holdings_.generation_count() ? now + kRoomAgainAfter : kNever;
}

bool Generations::begun(std::uint32_t g) const {
  return holdings_.find_open(g) || holdings_.verified().contains(g);
}

bool Generations::accepts(std::uint32_t g) {
  const std::uint64_t most = urgency(g) > 0 ? disk_room_ : room();
  if (begun(g) || holdings_.open().size() < most) return true;
  not_opened_.insert(g);
  return false;
}

void Generations::forget_settled() {
  std::erase_if(not_opened_, [&](std::uint32_t g) { return begun(g) || !holdings_.wants(g); });
}

// How many more.
std::uint64_t Generations::room_to_invite(TimeUs now) {
  widen(now);
  std::erase_if(invited_, [&](const auto& entry) {
    return begun(entry.first) || now - entry.second >= kInviteTime;
  });
  const std::uint64_t taken = holdings_.open().size() + invited_.size();
  return room() - std::min(room(), taken);
}

bool Generations::invites(std::uint32_t g, TimeUs now) {
  if (!holdings_.wants(g) || !accepts(g)) return false;
  if (begun(g) || urgency(g) > 0) return true;
  if (room_to_invite(now) == 0 && !invited_.contains(g)) {
    not_opened_.insert(g);
    return false;
  }
  if (invited_.try_emplace(g, now).second) next_waiting_ = g + 1;
  return true;
}

std::vector<std::uint32_t> Generations::next_waiting(
    const std::function<bool(std::uint32_t)>& offered, std::uint32_t count_max, TimeUs now) {
  forget_settled();
  const std::uint64_t count = std::min<std::uint64_t>(count_max, room_to_invite(now));
  const std::size_t looks = std::min<std::size_t>(not_opened_.size(), kScanMax);
  return in_turn(not_opened_, next_waiting_, offered, count, looks);
}

std::vector<std::uint32_t> Generations::shut_after(std::uint32_t g) {
  std::vector<std::uint32_t> shut;
  if (holdings_.rank(g) != 1 || holdings_.open().size() < room()) return shut;
  for (std::uint32_t looked = 0; looked < kShutTold; ++looked) {
    if (++g >= holdings_.generation_count()) break;
    const bool told = not_opened_.contains(g) && !invited_.contains(g);
    if (!told && holdings_.wants(g) && !accepts(g)) shut.push_back(g);
  }
  return shut;
}

const std::vector<Vector>& Generations::start_decode(std::uint32_t g) {
  holdings_.set_decoding(g);
  return holdings_.find_open(g)->vectors;
}

std::vector<std::uint32_t> Generations::verified(std::uint32_t g, TimeUs now) {
  holdings_.set_verified(g);
  return welcome(now);
}

std::vector<std::uint32_t> Generations::welcome(TimeUs now) {
  std::vector<std::uint32_t> chosen;
  forget_settled();
  const std::uint64_t room = room_to_invite(now);
  for (const std::uint32_t waiting : not_opened_) {
    if (chosen.size() >= room) break;
    if (!invited_.contains(waiting)) chosen.push_back(waiting);
  }
  return chosen;
}

void Generations::lose(std::uint32_t g) {
  holdings_.reset(g);
  lost_.insert(g);
}

void Generations::give_up(std::uint32_t g) {
  lose(g);
  holdings_.give_up(g);
}

std::vector<std::uint32_t> Generations::unwanted() const {
  std::vector<std::uint32_t> all = holdings_.settled().members();
  std::erase_if(all, [this](std::uint32_t g) { return holdings_.verified().contains(g); });
  return all;
}

std::vector<std::uint32_t> Generations::want(GenerationSet wanted, TimeUs now) {
  const std::vector<std::uint32_t> before = holdings_.settled().members();
  holdings_.want(std::move(wanted));
  for (const std::uint32_t g : before)
    if (holdings_.wants(g)) not_opened_.insert(g);
  return welcome(now);
}

std::vector<std::uint32_t> Generations::hurry(Urgent urgent) {
  urgent.swap(urgent_);
  for (const auto& [g, level] : urgent) not_opened_.insert(g);  // to be named again, in turn
  urgent.insert(urgent_.begin(), urgent_.end());
  std::vector<std::uint32_t> concerned;
  for (const auto& [g, level] : urgent) concerned.push_back(g);
  return concerned;
}

void Generations::remove(std::uint32_t g, const std::vector<std::uint32_t>& slots) {
  holdings_.remove(g, slots);
  if (holdings_.rank(g) == 0) lost_.insert(g);
}

std::vector<Generations::Slots> Generations::unproven_rows_of(const PeerId& sender) const {
  std::vector<Slots> found;
  for (const auto& [g, open] : holdings_.open()) {
    if (open.decoding || open.rows_from(sender, Rows::kAll) == 0) continue;
    Slots slots{g, {}};
    for (const std::uint32_t slot : open.unproven())
      if (open.senders[slot] == sender) slots.slots.push_back(slot);
    if (!slots.slots.empty()) found.push_back(std::move(slots));
  }
  return found;
}

std::vector<std::uint32_t> Generations::next_lost(const std::function<bool(std::uint32_t)>& offered,
                                                  std::uint32_t count_max) {
  std::erase_if(lost_,
                [&](std::uint32_t g) { return holdings_.rank(g) > 0 || !holdings_.wants(g); });
  return in_turn(lost_, next_lost_, offered, count_max, lost_.size());
}

}  // namespace firn::core
