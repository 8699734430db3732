#include "tests/hostile/saboteur.h"

#include <algorithm>
#include <variant>

#include "codec/encode.h"
#include "codec/kernels.h"
#include "proto/base/limits.h"
#include "tests/core/facts.h"

namespace firn::hostile {

namespace {

constexpr std::uint32_t kMadeUp = 1000;  // blocks, more in each report

}  // namespace

bool Saboteur::sends(proto::Block& block, core::TimeUs now) {
  if (deeds_.rank > 0 || deeds_.repeats) lower_rank(block);
  if (block.state) says(*block.state);
  const bool is_false = falsifies_now(now);
  if (is_false) falsify(block);
  return is_false;
}

bool Saboteur::falsifies_now(core::TimeUs now) {
  if (deeds_.falsifies == 0) return false;
  if (deeds_.turn > 0) return now / deeds_.turn % 2 == 1;
  return random_.below(1'000'000) < deeds_.falsifies * 1e6;
}

// The first byte is changed in any case.
void Saboteur::falsify(proto::Block& block) {
  block.payload = proto::Payload::copy_of(block.payload.bytes());
  const auto bytes = block.payload.writable();
  std::vector<std::uint8_t> change(deeds_.noise ? bytes.size() : 1);
  random_.fill(change);
  change[0] |= 1;
  for (std::size_t i = 0; i < change.size(); ++i) bytes[i] ^= change[i];
}

// Its receivers soon know all of what it mixes.
void Saboteur::lower_rank(proto::Block& block) {
  const std::uint32_t n = shape_.blocks_in(block.generation);
  std::vector<Sent>& sent = sent_[block.generation];
  if (block.source_index) {
    block.coefficients = codec::unit_vector(n, *block.source_index);
    block.source_index.reset();
  }
  if (sent.size() < std::max(deeds_.rank, 1u)) {
    sent.push_back({block.coefficients, block.payload});
    return;
  }
  block.recoded = true;
  if (deeds_.repeats) {
    block.coefficients = sent.front().vector;
    block.payload = sent.front().payload;
    return;
  }
  std::vector<const std::uint8_t*> vectors, payloads;
  for (const Sent& one : sent) {
    vectors.push_back(one.vector.data());
    payloads.push_back(one.payload.bytes().data());
  }
  const std::vector<std::uint8_t> mix = codec::random_mix(sent.size(), random_);
  codec::mix_vectors(codec::kernels(), mix, vectors, block.coefficients);
  block.payload = proto::Payload::allocate(shape_.block_bytes);
  codec::kernels().combine(block.payload.writable().data(), payloads.data(), mix.data(),
                           payloads.size(), shape_.block_bytes);
}

void Saboteur::says(proto::State& state) {
  if (deeds_.claims_rank) {
    for (proto::GenerationState& one : state.generations) {
      one.rank = std::max(one.rank, shape_.blocks_in(one.generation) - 1);
      one.null_vector.clear();
      const std::uint32_t n = shape_.blocks_in(one.generation);
      for (std::uint32_t i = 0; !one.wanted_blocks.empty() && i < n; ++i) {
        one.held_blocks.resize((n + 7) / 8);
        one.held_blocks[i / 8] |= static_cast<std::uint8_t>(1 << (i % 8));
      }
    }
  }
  if (deeds_.false_sums && shape_.generation_count() > 0) {
    state.complete = {{0, shape_.generation_count()}};
    state.generations.clear();
  }
  if (!deeds_.lies_in_reports || state.received.empty()) return;
  state.received.clear();
  for (auto& [prefix, blocks] : friends_) {
    if (state.received.size() == limits::kReceivedMax) break;
    state.received.push_back({prefix, blocks += kMadeUp});
  }
}

// By these sums no row is true. It answers as if it held the generation.
void Saboteur::says(core::PeerKey to, proto::CheckReply& reply) {
  if (!deeds_.false_sums) return;
  if (reply.sums.empty()) {
    reply.sums.resize(shape_.blocks_in(reply.generation) * test::facts::kSumBytes);
    reply.key = keys_[{to, reply.generation}];
  }
  if (++sums_told_[to] <= deeds_.true_sums) return;
  for (std::uint8_t& sum : reply.sums) sum ^= 1;
}

// Without credit the core sends nothing.
void Saboteur::hears(core::PeerKey from, proto::PeerMessage& message) {
  if (const auto* request = std::get_if<proto::CheckRequest>(&message);
      deeds_.false_sums && request)
    for (const std::uint32_t g : request->generations) keys_[{from, g}] = request->key;
  if (serves(from)) return;
  if (auto* state = std::get_if<proto::State>(&message)) state->credit = 0;
  if (auto* block = std::get_if<proto::Block>(&message)) {
    if (block->state) block->state->credit = 0;
  }
}

void Saboteur::believes(proto::PeerMessage& heard) const {
  if (!deeds_.colludes) return;
  if (auto* hello = std::get_if<proto::Hello>(&heard)) hello->certificate.clear();
  if (auto* state = std::get_if<proto::State>(&heard)) state->proven_only = false;
  if (auto* block = std::get_if<proto::Block>(&heard)) {
    if (block->state) block->state->proven_only = false;
  }
}

// Keys of both ends of a connection may differ in the last bit.
bool Saboteur::serves(core::PeerKey peer) const {
  return deeds_.serves >= 1 || static_cast<double>(peer / 2 * 7 % 10) < deeds_.serves * 10;
}

}  // namespace firn::hostile
