#include "tracker/swarm_sample.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proto/base/limits.h"

namespace firn::tracker {
namespace {

// Numbers below `count` without putting back: a Fisher-Yates shuffle of which only the drawn places
// are made, with the places that hold something else than at the start kept in a map.
class Shuffle {
 public:
  explicit Shuffle(std::size_t count) : count_(count) {}

  bool empty() const { return first_ == count_; }
  std::size_t next(Random& random) {
    const std::size_t place = std::uniform_int_distribution(first_, count_ - 1)(random);
    const std::size_t drawn = at(place);
    if (place != first_) moved_[place] = at(first_);
    ++first_;
    return drawn;
  }

 private:
  std::size_t at(std::size_t place) const {
    const auto other = moved_.find(place);
    return other == moved_.end() ? place : other->second;
  }

  std::size_t count_;
  std::size_t first_ = 0;
  std::unordered_map<std::size_t, std::size_t> moved_;
};

// A number below `count`, which is less than 2^32; the bias is below 2^-32 of it.
std::size_t below(std::size_t count, Random& random) {
  return static_cast<std::size_t>((random() >> 32) * count >> 32);
}

// Different numbers below `count`, one after the other, without memory for all of them: as long as
// many are left a number that has come before is drawn again.
class Distinct {
 public:
  // `drawn_max`: how many are drawn at most, up to half of kSlots.
  Distinct(std::size_t count, std::size_t drawn_max) : count_(count) {
    if (count > 2 * drawn_max) return;
    FIRN_CHECK(count <= kSlots);
    is_dealt_ = true;
    for (std::size_t i = 0; i < count; ++i) slots_[i] = static_cast<std::uint32_t>(i);
  }
  bool empty() const { return drawn_ == count_; }
  std::size_t next(Random& random) {
    if (is_dealt_) {
      std::swap(slots_[drawn_], slots_[drawn_ + below(count_ - drawn_, random)]);
      return slots_[drawn_++];
    }
    for (;;) {
      const std::size_t number = below(count_, random);
      // Multiplied so that neighbours do not stand in a row. 0 marks a slot that is free.
      std::size_t slot = number * 0x9e3779b1u % kSlots;
      while (slots_[slot] != 0 && slots_[slot] != number + 1) slot = (slot + 1) % kSlots;
      if (slots_[slot] != 0) continue;
      slots_[slot] = static_cast<std::uint32_t>(number + 1);
      ++drawn_;
      return number;
    }
  }

 private:
  static constexpr std::size_t kSlots = 1024;
  const std::size_t count_;
  std::size_t drawn_ = 0;
  bool is_dealt_ = false;
  std::array<std::uint32_t, kSlots> slots_{};
};

// Nearly all differ in their first bytes.
bool is_asker(const PeerId& id, const SampleRequest& request) {
  std::uint64_t ours = 0, theirs = 0;
  std::memcpy(&ours, id.bytes.data(), sizeof ours);
  std::memcpy(&theirs, request.asker.bytes.data(), sizeof theirs);
  return ours == theirs && id == request.asker;
}

// The lines of memory that an endpoint lies in.
void prefetch(const PeerRecord& record) {
  __builtin_prefetch(&record.peer);
  __builtin_prefetch(&record.peer.complete);
}

}  // namespace

// The peers of one crowd that fit, in random order.
class SwarmSample::Turns {
 public:
  Turns(Crowd crowd, const SwarmSample& sample)
      : crowd_(crowd), sample_(&sample), order_(sample.fitting_in(crowd)) {}

  // kNone: there is no other.
  std::uint32_t next(Random& random) {
    if (order_.empty()) return kNone;
    const auto slot = static_cast<std::uint32_t>(order_.next(random));
    return PrefixTable::is_group(crowd_) ? sample_->prefixes_.members(crowd_)[slot] : crowd_;
  }

 private:
  Crowd crowd_;
  const SwarmSample* sample_;
  Shuffle order_;
};

void SwarmSample::draw(const SampleRequest& wanted, std::size_t fitting, Random& random,
                       Endpoints& into) const {
  into.clear();
  SampleRequest request = wanted;
  request.peers_max = std::min<std::size_t>(request.peers_max, limits::kAnnouncePeersMax);
  const std::size_t crowds = crowds_.fitting(with_);
  if (crowds < request.peers_max && crowds < fitting) return draw_again(request, random, into);
  draw_once(request, random, into);
}

std::uint32_t SwarmSample::pick(Crowd crowd, Random& random) const {
  if (!PrefixTable::is_group(crowd)) return crowd;
  const KindList& members = prefixes_.members(crowd);
  return members[static_cast<std::uint32_t>(below(members.fitting(with_), random))];
}

// The first time round: of each prefix one peer, until there are enough. Its memory is on the stack
// and `into` keeps its own, so that a tracker of many peers takes none here.
void SwarmSample::draw_once(const SampleRequest& request, Random& random, Endpoints& into) const {
  constexpr std::size_t kAhead = 64;
  std::array<const PeerRecord*, kAhead> records;
  Distinct order(crowds_.fitting(with_), request.peers_max + 1);  // the asker may be among them
  while (into.size() < request.peers_max && !order.empty()) {
    // Peers lie all over memory: ask for the next ones before the first is looked at.
    const std::size_t ahead = std::min(request.peers_max - into.size(), kAhead);
    std::size_t count = 0;
    for (; count < ahead && !order.empty(); ++count) {
      const auto slot = static_cast<std::uint32_t>(order.next(random));
      records[count] = &peers_[pick(crowds_[slot], random)];
      prefetch(*records[count]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const proto::PackedEndpoint& endpoint = records[i]->peer.endpoint;
      if (!is_asker(endpoint.id, request)) into.push_back(endpoint);
    }
  }
}

// Few prefixes: some give several peers.
void SwarmSample::draw_again(const SampleRequest& request, Random& random, Endpoints& into) const {
  Shuffle order(crowds_.fitting(with_));
  std::vector<Turns> begun;
  while (!order.empty())
    begun.emplace_back(crowds_[static_cast<std::uint32_t>(order.next(random))], *this);
  while (into.size() < request.peers_max && !begun.empty()) {
    std::erase_if(begun, [&](Turns& turns) {
      const std::uint32_t peer = into.size() < request.peers_max ? turns.next(random) : kNone;
      if (peer == kNone) return true;
      const proto::PackedEndpoint& endpoint = peers_[peer].peer.endpoint;
      if (!is_asker(endpoint.id, request)) into.push_back(endpoint);
      return false;
    });
  }
}

}  // namespace firn::tracker
