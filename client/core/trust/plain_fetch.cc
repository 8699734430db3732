#include "client/core/trust/plain_fetch.h"

#include <utility>

#include "client/core/base/constants.h"
#include "proto/base/digest.h"
#include "proto/base/limits.h"

namespace firn::core::trust {

// In a large mesh after the first false row a peer asks for the leaves of generations up to
// kPlainAhead beyond the front, of kLeavesAtOnce at a time: all peers ask in the same order, and
// the first to have a list hands it on [079].
constexpr std::uint32_t kPlainAhead = 4;
constexpr std::ptrdiff_t kLeavesAtOnce = 3;
constexpr TimeUs kLeavesRetry = 200 * kMillisecond;  // where no neighbour has them yet
constexpr std::size_t kPlainWaitMax = 4096;  // generations that neighbours are told to wait for

PlainFetch::PlainFetch(const World& world, Verdicts& verdicts, const Regime& regime,
                       std::vector<Digest> digests)
    : world_(world),
      verdicts_(verdicts),
      regime_(regime),
      mode_(world, regime),
      digests_(std::move(digests)),
      shares_(world.holdings.shape()),
      random_(world.context.options.seed, 0x6c6561766573) {}

void PlainFetch::begin(std::uint32_t g) {
  PlainGeneration& c = plain_.try_emplace(g).first->second;
  c.resting = c.resting && !has_room();
  c.turned_at = c.waits_since = world_.context.now;
  c.ahead = false;
}

bool PlainFetch::waits(std::uint32_t g) const {
  const auto known = plain_.find(g);
  if (!mode_.on() || !world_.holdings.wants(g)) return false;
  if (known == plain_.end()) return !has_room();
  return known->second.leaves.empty() && !known->second.resting;
}

bool PlainFetch::told_to_wait(std::uint32_t g) {
  return told_to_wait_.size() < kPlainWaitMax &&
         told_to_wait_.try_emplace(g, world_.context.now).second;
}

bool PlainFetch::just_waits(std::uint32_t g) const {
  if (!waits(g)) return false;
  const auto told = told_to_wait_.find(g);
  if (told == told_to_wait_.end()) return told_to_wait_.size() < kPlainWaitMax;
  return world_.context.now - told->second < kPlainWait;
}

bool PlainFetch::shared(std::uint32_t g) const {
  const auto known = plain_.find(g);
  return known != plain_.end() && (mode_.on() || known->second.ahead);
}

bool PlainFetch::on(std::uint32_t g) const {
  return knows(g) && !plain_.at(g).resting;
}

bool PlainFetch::knows(std::uint32_t g) const {
  const auto known = plain_.find(g);
  return known != plain_.end() && !known->second.leaves.empty();
}

bool PlainFetch::right(std::uint32_t g, std::uint32_t i, const proto::Payload& payload) const {
  return merkle_leaf(payload.bytes()) == plain_.at(g).leaves[i];
}

// Few come so: from a source alone, each to one peer. Their payloads are in the store.
void PlainFetch::came(std::uint32_t g, std::uint32_t slot, const PeerId& from,
                      const proto::Payload& payload) {
  if (regime_.alone_at_large() && !knows(g)) came_[g][slot] = {from, merkle_leaf(payload.bytes())};
}

void PlainFetch::rows_gone(std::uint32_t g, const std::vector<std::uint32_t>* slots) {
  const auto known = came_.find(g);
  if (known == came_.end()) return;
  if (!slots) {
    came_.erase(known);
    return;
  }
  for (const std::uint32_t slot : *slots) known->second.erase(slot);
}

PlainFetch::Sorted PlainFetch::sort(std::uint32_t g) const {
  Sorted sorted;
  const OpenGeneration* open = world_.holdings.find_open(g);
  const auto blocks = came_.find(g);
  if (!open || blocks == came_.end()) return sorted;
  const std::vector<Digest>& leaves = plain_.at(g).leaves;
  for (const auto& [slot, block] : blocks->second) {
    const std::uint32_t i = open->source_block[slot];
    if (i == kCoded || open->senders[slot] != block.from) continue;
    if (block.leaf != leaves[i]) {
      sorted.wrong.push_back(slot);
    } else if (!open->has(slot, Rows::kProven)) {
      sorted.right.push_back(slot);
    }
  }
  return sorted;
}

std::vector<Digest> PlainFetch::leaves_of(std::uint32_t g) const {
  const auto known = plain_.find(g);
  return known == plain_.end() ? std::vector<Digest>{} : known->second.leaves;
}

// --- leaves ---

// Those that were silent come last. Where all is fetched plainly sources come after the others:
// they are to send blocks.
std::vector<const Neighbour*> PlainFetch::best_to_ask(std::uint32_t g, const PlainGeneration& c) {
  const auto rank = [this](const Neighbour& n) {
    return 2 * silent_.count(n.key) + (mode_.on() && n.holds.has_everything() ? 1 : 0);
  };
  std::vector<const Neighbour*> holders;
  for (const Neighbour& n : world_.neighbours) {
    const bool may_have_leaves =
        n.holds.heard() && (n.holds.complete().contains(g) || n.holds.wanted_blocks(g));
    if (!may_have_leaves || c.without.contains(n.key)) continue;
    if (!holders.empty() && rank(n) < rank(*holders.front())) holders.clear();
    if (holders.empty() || rank(n) == rank(*holders.front())) holders.push_back(&n);
  }
  return holders;
}

void PlainFetch::ask(std::uint32_t g, PlainGeneration& c) {
  if (c.asked != kNoPeer) silent_.insert(c.asked);
  const std::vector<const Neighbour*> holders = best_to_ask(g, c);
  c.asked = kNoPeer;
  c.due = world_.context.now + kLeavesTimeout;
  if (holders.empty()) {  // from the beginning
    if (mode_.on()) c.due = world_.context.now + kLeavesRetry;
    return c.without.clear();
  }
  const Neighbour& n = *holders[random_.below(static_cast<std::uint32_t>(holders.size()))];
  c.asked = n.key;
  c.without.insert(n.key);  // unless it answers
  verdicts_.push_back(Send{n.key, proto::LeafRequest{{g}}});
}

PlainFetch::Reply PlainFetch::replied(const Neighbour& n, proto::LeafReply&& reply) {
  if (reply.generation >= world_.holdings.generation_count()) return Reply::kFalse;
  const auto known = plain_.find(reply.generation);
  if (known == plain_.end() || known->second.asked != n.key) return Reply::kUseless;
  PlainGeneration& c = known->second;
  c.asked = kNoPeer;
  c.due = world_.context.now;
  if (reply.leaves.empty()) {
    silent_.insert(n.key);
    return Reply::kUseless;
  }
  if (reply.leaves.size() != world_.holdings.blocks_in(reply.generation) ||
      merkle_root(reply.leaves) != digests_[reply.generation])
    return Reply::kFalse;
  silent_.erase(n.key);
  told_to_wait_.erase(reply.generation);
  c.resting = c.resting && !has_room();
  c.leaves = std::move(reply.leaves);
  c.turned_at = c.waits_since = world_.context.now;
  return Reply::kFits;
}

void PlainFetch::neighbour_left(const Neighbour& n) {
  silent_.erase(n.key);
  shares_.look_again();
  for (auto& [g, c] : plain_) {
    c.without.erase(n.key);
    if (c.asked != n.key) continue;
    c.asked = kNoPeer;
    c.due = world_.context.now;
  }
}

// Those that are fetched plainly, or may soon be: a State can name no more (kWantedBlocksMax).
static_assert(kPlainMax <= limits::kWantedBlocksMax);
bool PlainFetch::has_room() const {
  const auto taken = std::count_if(plain_.begin(), plain_.end(), [](const auto& one) {
    const PlainGeneration& c = one.second;
    return !c.resting && (!c.leaves.empty() || c.asked != kNoPeer);
  });
  return static_cast<std::size_t>(taken) < (mode_.on() ? limits::kWantedBlocksMax : kPlainMax);
}

bool PlainFetch::asks_enough() const {
  return mode_.on() && std::count_if(plain_.begin(), plain_.end(), [](const auto& one) {
                         return one.second.leaves.empty() && one.second.asked != kNoPeer;
                       }) >= kLeavesAtOnce;
}

// The lowest generations that are not there, as far as the download's front will soon reach.
void PlainFetch::look_ahead() {
  const GenerationSet& settled = world_.holdings.settled();
  const std::uint32_t end =
      std::min(world_.holdings.frontier() + kPlainAhead, world_.holdings.generation_count());
  for (std::uint32_t g = settled.next_missing(0); g < end; g = settled.next_missing(g + 1)) {
    if (plain_.size() >= limits::kWantedBlocksMax) break;
    if (plain_.contains(g) || world_.holdings.decoding(g)) continue;
    begin(g);
    plain_.at(g).ahead = true;
    verdicts_.push_back(Tell{g});
  }
}

// What has begun so ends so.
void PlainFetch::end_mode() {
  std::erase_if(plain_, [this](const auto& one) {
    const auto& [g, c] = one;
    if (!c.ahead || (world_.holdings.rank(g) > 0 && !c.leaves.empty())) return false;
    verdicts_.push_back(Tell{g});
    return true;
  });
}

// Blocks of what had to wait for room are taken again.
void PlainFetch::call_waiting() {
  if (told_to_wait_.empty() || (mode_.on() && !has_room())) return;
  std::erase_if(told_to_wait_, [this](const auto& told) {
    if (waits(told.first)) return false;
    verdicts_.push_back(Tell{told.first});
    return true;
  });
}

void PlainFetch::give_up_waiting(std::uint32_t g, PlainGeneration& c) {
  if (!waits(g) || world_.context.now - c.waits_since < kPlainWait) return;
  c.resting = true;
  told_to_wait_.erase(g);
  verdicts_.push_back(Tell{g});
}

// A bounded number of generations at a time, the lowest of those that wait first.
void PlainFetch::step() {
  if (mode_.step()) {
    if (mode_.on())
      verdicts_.push_back(Notice{
          Notice::Kind::kWarning,
          "false data is about, and nobody near can judge it: blocks are fetched one by one"});
    if (!mode_.on()) end_mode();
  }
  if (mode_.on()) look_ahead();
  for (auto& [g, c] : plain_) {
    if (c.leaves.empty()) {
      give_up_waiting(g, c);
      if (c.due > world_.context.now) continue;
      if (c.asked != kNoPeer || (has_room() && !asks_enough())) ask(g, c);
    } else if (turn_due(g, c) <= world_.context.now) {
      turn(g, c);
    }
  }
  call_waiting();
}

TimeUs PlainFetch::next_due() const {
  TimeUs at = mode_.next_due();
  const bool room = plain_.empty() || (has_room() && !asks_enough());
  for (const auto& [g, c] : plain_) {
    if (waits(g)) at = std::min(at, c.waits_since + kPlainWait);
    if (!c.leaves.empty()) {
      at = std::min(at, turn_due(g, c));
    } else if (room || c.asked != kNoPeer) {
      at = std::min(at, c.due);
    }
  }
  return at;
}

// --- blocks ---

// Shares go round where nothing has come for a while.
TimeUs PlainFetch::turn_due(std::uint32_t g, const PlainGeneration& c) const {
  const OpenGeneration* open = world_.holdings.find_open(g);
  if (c.resting || (open && open->decoding)) return kNever;
  return std::max(c.turned_at, open ? open->last_growth : 0) + kStallTime;
}

// Holders may send one generation after the other: while any of them grows, all wait.
void PlainFetch::turn(std::uint32_t g, PlainGeneration& c) {
  for (const auto& [other, known] : plain_) {
    const OpenGeneration* open = world_.holdings.find_open(other);
    if (open && !known.leaves.empty() && !known.resting)
      came_at_ = std::max(came_at_, open->last_growth);
  }
  c.resting = world_.context.now - std::max(c.waits_since, came_at_) >= kPlainPatience;
  ++c.turn;
  c.turned_at = world_.context.now;
  verdicts_.push_back(Tell{g});
}

// Whether it may be asked for a share of what is missing: it holds all of g, and sends.
bool PlainFetch::shares(const Neighbour& n, std::uint32_t g) const {
  return n.holds.complete().contains(g) && n.useful() && !n.grants.stalled(world_.context.now);
}

std::vector<std::uint32_t> PlainFetch::missing(std::uint32_t g) const {
  std::vector<bool> held(world_.holdings.blocks_in(g));
  const OpenGeneration* open = world_.holdings.find_open(g);
  for (std::uint32_t slot = 0; open && slot < open->vectors.size(); ++slot) {
    if (open->vectors[slot] && open->source_block[slot] != kCoded)
      held[open->source_block[slot]] = true;
  }
  std::vector<std::uint32_t> missing;
  for (std::uint32_t i = 0; i < held.size(); ++i)
    if (!held[i]) missing.push_back(i);
  return missing;
}

BlockBits PlainFetch::held(std::uint32_t g) const {
  BlockBits bits = no_blocks(world_.holdings.blocks_in(g));
  const OpenGeneration* open = world_.holdings.find_open(g);
  for (std::uint32_t slot = 0; open && slot < open->vectors.size(); ++slot) {
    const std::uint32_t i = open->source_block[slot];
    if (open->has(slot, Rows::kProven) && i != kCoded) add_block(bits, i);
  }
  return bits;
}

// Of the neighbours that hold all of g each is asked for blocks of its own, so that no two send the
// same; where nothing comes each for those of another. Where some of them have shown themselves a
// suspect is asked for one block, to do so too: a polluter that comes back under fresh names would
// hold up what it is asked for each time. A neighbour that holds a part may send what it has.
BlockBits PlainFetch::wanted_from(const Neighbour& n, std::uint32_t g) {
  BlockBits bits = no_blocks(world_.holdings.blocks_in(g));
  const auto want = [&](std::uint32_t i) { add_block(bits, i); };
  const std::vector<std::uint32_t> lacked = missing(g);
  if (lacked.empty()) return bits;
  if (shared(g)) {
    for (const std::uint32_t i : shares_.of(world_.neighbours, n, g, lacked, world_.context.now))
      want(i);
    return bits;
  }
  std::uint32_t holders = 0, suspects = 0, place = 0;
  for (const Neighbour& other : world_.neighbours) {
    if (!shares(other, g)) continue;
    std::uint32_t& alike = is_suspect(other.regard()) ? suspects : holders;
    if (other.key == n.key) place = alike;
    ++alike;
  }
  const std::uint32_t turn = plain_.at(g).turn;
  const bool sifted = holders > 0 && is_suspect(n.regard());
  const std::uint32_t sharers = holders > 0 ? holders : suspects;
  if (sifted && n.holds.complete().contains(g)) {
    want(lacked[(place + turn) % lacked.size()]);
    return bits;
  }
  for (const std::uint32_t i : lacked)
    if (!shares(n, g) || (i + turn) % sharers == place) want(i);
  return bits;
}

}  // namespace firn::core::trust
