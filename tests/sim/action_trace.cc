#include "tests/sim/action_trace.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace firn::sim {

using namespace core;

ActionTrace::ActionTrace(std::uint64_t seed) : path_(std::getenv("FIRN_TRACES")), seed_(seed) {}

ActionTrace::~ActionTrace() {
  if (!path_) return;
  std::ofstream(path_, std::ios::app)
      << "seed " << seed_ << " peers " << peers_ << " last " << last_ << " actions " << actions_
      << " hash " << std::hex << hash_ << '\n';
}

void ActionTrace::step(TimeUs at, std::size_t peer, const std::vector<Action>& actions) {
  if (!path_ || actions.empty()) return;
  last_ = at;
  peers_ = std::max(peers_, peer + 1);
  add(static_cast<std::uint64_t>(at));
  add(peer);
  for (const Action& action : actions) {
    add(action.index());
    std::visit([this](const auto& one) { add(one); }, action);
  }
  actions_ += actions.size();
}

// FNV-1a, over numbers of 64 bits and, below, over single bytes.
void ActionTrace::add(std::uint64_t number) {
  hash_ = (hash_ ^ number) * 0x100000001b3;
  hash_ ^= hash_ >> 32;
}

void ActionTrace::add(std::span<const std::uint8_t> bytes) {
  add(bytes.size());
  for (const std::uint8_t byte : bytes) hash_ = (hash_ ^ byte) * 0x100000001b3;
}

void ActionTrace::add(std::string_view text) {
  add(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void ActionTrace::add(const Address& address) {
  add(to_text(address));
}

void ActionTrace::add(const proto::PeerMessage& message) {
  const proto::OutgoingFrame frame = proto::serialize(message);
  add(frame.head);
  add(frame.payload.bytes());
}

void ActionTrace::add(const Connect& action) {
  add(action.attempt);
  add(action.address);
}

void ActionTrace::add(const Close& action) {
  add(action.peer);
}

void ActionTrace::add(const Send& action) {
  add(action.peer);
  add(action.message);
}

void ActionTrace::add(const SendBlock& action) {
  add(action.peer);
  add(proto::PeerMessage(action.block));
  add(action.exchangeable);
  for (const std::uint32_t slot : action.slots) add(slot);
  add(action.mix);
}

void ActionTrace::add(const StoreRow& action) {
  add(action.generation);
  add(action.slot);
  add(*action.vector);
  add(action.sender);
  add(static_cast<std::uint64_t>(action.standing));
  add(action.payload.bytes());
}

void ActionTrace::add(const MarkProven& action) {
  add(action.generation);
  for (const std::uint32_t slot : action.slots) add(slot);
}

void ActionTrace::add(const FetchFromOrigin& action) {
  add(action.first);
  add(action.count);
}

void ActionTrace::add(const Decode& action) {
  add(action.generation);
  for (const Vector& vector : action.vectors) add(*vector);
}

void ActionTrace::add(const DropRows& action) {
  add(action.generation);
}

void ActionTrace::add(const DropSlots& action) {
  add(action.generation);
  for (const std::uint32_t slot : action.slots) add(slot);
}

void ActionTrace::add(const JudgeRows& action) {
  add(action.generation);
  add(action.key);
  add(action.sums);
  for (const std::uint32_t slot : action.slots) add(slot);
  for (const Vector& vector : action.vectors) add(*vector);
}

void ActionTrace::add(const MakeCheck& action) {
  add(action.peer);
  add(action.generation);
  add(action.tag_bytes);
  add(action.key);
}

void ActionTrace::add(const MakeLeaves& action) {
  add(action.peer);
  add(action.generation);
}

void ActionTrace::add(const AnnounceTo& action) {
  add(action.tracker);
  add(static_cast<std::uint64_t>(action.announce.event));
  add(action.announce.listen_port);
  add(action.announce.complete);
  add(action.announce.peers_wanted);
}

void ActionTrace::add(const FetchManifestFrom& action) {
  add(action.tracker);
}

void ActionTrace::add(const KeepManifestPart& action) {
  add(action.peer);
  add(action.part.offset);
  add(action.part.data);
}

void ActionTrace::add(const ManifestArrived& action) {
  add(std::span<const std::uint8_t>(action.manifest.id.bytes));
  add(action.manifest.file_bytes);
}

void ActionTrace::add(const ContentComplete&) {}

void ActionTrace::add(const Finished&) {}

void ActionTrace::add(const Notice& action) {
  add(static_cast<std::uint64_t>(action.kind));
  add(action.text);
}

void ActionTrace::add(const DoubtRows&) {}

}  // namespace firn::sim
