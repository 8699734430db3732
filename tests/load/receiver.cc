#include "tests/load/receiver.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace firn::load {
namespace {

// Blocks that may come ahead of the rate, whatever that is: a window of the product.
constexpr double kLeadMin = 4;

Error broken(const std::string& what) {
  return {ErrorCode::kProtocol, "receive from the seed", what};
}

}  // namespace

Receiver::Receiver(const Diet& diet, std::uint32_t first, bool samples)
    : diet_(diet),
      samples_(samples),
      seconds_(diet.measurement, diet.rate, diet.manifest.info.shape.block_bytes),
      next_(first) {
  for (std::uint32_t i = 0; i < diet_.generations; ++i) want_next();
}

void Receiver::want_next() {
  const Shape& shape = diet_.manifest.info.shape;
  Wanted& wanted = wanted_.emplace_back();
  wanted.generation = next_;
  if (samples_) wanted.check = std::make_unique<RowCheck>(diet_.manifest, next_);
  next_ = (next_ + 1) % shape.generation_count();
}

Receiver::Wanted* Receiver::find(std::uint32_t generation) {
  const auto at = std::find_if(wanted_.begin(), wanted_.end(), [generation](const Wanted& wanted) {
    return wanted.generation == generation;
  });
  return at == wanted_.end() ? nullptr : &*at;
}

proto::PeerMessage Receiver::hello() const {
  proto::Hello hello;
  hello.content_id = diet_.manifest.id;
  hello.agent = "firn-load";
  hello.has_manifest = true;
  return hello;
}

Status Receiver::take(const proto::PeerMessage& message, TimeUs now) {
  if (const auto* block = std::get_if<proto::Block>(&message)) return take_block(*block, now);
  if (const auto* hello = std::get_if<proto::Hello>(&message)) {
    if (due_) return broken("a second Hello");
    if (hello->content_id != diet_.manifest.id || !hello->has_manifest)
      return broken("it does not serve this content");
    due_ = now;
    return Done{};
  }
  if (const auto* goodbye = std::get_if<proto::Goodbye>(&message))
    return broken("it said goodbye: " + goodbye->detail + " (reason " +
                  std::to_string(static_cast<int>(goodbye->reason)) + ")");
  return Done{};
}

Status Receiver::take_block(const proto::Block& block, TimeUs now) {
  const Shape& shape = diet_.manifest.info.shape;
  if (block.generation >= shape.generation_count()) return broken("a generation that is none");
  if (block.sequence <= last_sequence_ || block.sequence > granted_)
    return broken("a block that was not granted");
  if (block.payload.size() != shape.block_bytes) return broken("a payload of wrong length");
  const std::uint32_t n = shape.blocks_in(block.generation);
  if (block.source_index ? *block.source_index >= n : block.coefficients.size() != n)
    return broken("a coding vector of wrong length");
  last_sequence_ = block.sequence;
  ++blocks_;
  seconds_.block(now);
  Wanted* const wanted = find(block.generation);
  if (!wanted) {
    ++redundant_;
    return Done{};
  }
  return count(*wanted, block);
}

Status Receiver::count(Wanted& wanted, const proto::Block& block) {
  if (wanted.check && !wanted.check->add(block)) {
    ++redundant_;
    return Done{};
  }
  wanted.changed = true;
  if (++wanted.rank < diet_.manifest.info.shape.blocks_in(wanted.generation)) return Done{};
  if (wanted.check) {
    if (const Status right = wanted.check->compare(); !right.ok()) return right;
    ++checked_;
  }
  complete_.push_back(wanted.generation);
  wanted_.erase(wanted_.begin() + (&wanted - &wanted_.front()));
  want_next();
  return Done{};
}

std::uint32_t Receiver::credit(TimeUs now) const {
  if (!diet_.paced_by_credit()) return last_sequence_ + Diet::kAmpleCredit;
  const double blocks_a_second = diet_.rate / diet_.manifest.info.shape.block_bytes;
  const double lead = std::max(
      kLeadMin, std::ceil(blocks_a_second * static_cast<double>(diet_.state_interval) * 1e-6));
  return static_cast<std::uint32_t>(blocks_a_second * static_cast<double>(now - *began_) * 1e-6 +
                                    lead);
}

// It wants nothing but its few generations. These are named with a quota in the same State, which
// takes effect after what is unwanted.
void Receiver::first_state(proto::State& state) const {
  const std::uint32_t count = diet_.manifest.info.shape.generation_count();
  state.unwanted = {{0, count}};
  state.neighbours = 1;
}

std::optional<proto::State> Receiver::state(TimeUs now) {
  if (!due_ || now < *due_) return std::nullopt;
  proto::State state;
  if (!began_) {
    began_ = now;
    seconds_.begin(now);
    first_state(state);
  }
  state.acknowledged = last_sequence_;
  state.credit = granted_ = std::max(granted_, credit(now));
  for (const std::uint32_t g : std::exchange(complete_, {})) state.unwanted.push_back({g, 1});
  for (Wanted& wanted : wanted_) {
    if (!std::exchange(wanted.changed, false)) continue;
    const std::uint32_t n = diet_.manifest.info.shape.blocks_in(wanted.generation);
    state.generations.push_back({wanted.generation, wanted.rank, n, {}});
  }
  due_ = *due_ + diet_.state_interval;
  if (*due_ <= now) due_ = now + diet_.state_interval;
  return state;
}

}  // namespace firn::load
