// Leaf lists, what is asked for by them, and what is read now: as docs/protocol.md prints them, and
// their bounds.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <variant>

#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/messages.h"
#include "proto/wire.h"
#include "tests/proto/document.h"
#include "tests/proto/hex.h"
#include "tests/proto/wire_frames.h"

using namespace firn;
using namespace firn::proto;
using namespace firn::test;

namespace {

// What the parser says about `message`; "" if it takes it.
std::string fault_of(const wire::PeerMessage& message) {
  const auto parsed = parse_peer_message(bytes_of(message.SerializeAsString()));
  return parsed.ok() ? "" : parsed.error().detail;
}

bool names(const std::string& fault, const std::string& what) {
  return fault.find(what) != std::string::npos;
}

bool as_printed(const char* name, const PeerMessage& message) {
  return to_hex(whole(serialize(message))) == hex_example("protocol.md", name);
}

}  // namespace

TEST_CASE("leaf lists, wanted blocks and urgency are sent as docs/protocol.md prints them") {
  State state;
  state.acknowledged = 7;
  state.credit = 300;
  state.generations = {
      {.generation = 3, .rank = 5, .quota = 3, .null_vector = {}, .wanted_blocks = {0x54}}};
  CHECK(as_printed("state_wanted_blocks", state));
  state.generations[0].rank = 2;
  state.generations[0].quota = 1;
  state.generations[0].wanted_blocks = {0x50};
  state.generations[0].held_blocks = {0x24};
  CHECK(as_printed("state_held_blocks", state));
  state.generations = {
      {.generation = 3, .rank = 5, .quota = 3, .null_vector = {}, .urgency = kAwaited},
      {.generation = 4, .rank = 0, .quota = 3, .null_vector = {}, .urgency = kReadSoon}};
  CHECK(as_printed("state_urgency", state));
  CHECK(as_printed("leaf_request", LeafRequest{{3, 7}}));
  const LeafReply reply{.generation = 3,
                        .leaves = {merkle_leaf(bytes_of("snow")), merkle_leaf(bytes_of("firn"))}};
  CHECK(as_printed("leaf_reply", reply));
}

TEST_CASE("a leaf request names one generation at least, and no more than the limit") {
  const auto request = [](std::size_t count, std::uint32_t generation = 0) {
    wire::PeerMessage message;
    message.mutable_leaf_request();
    for (std::size_t i = 0; i < count; ++i)
      message.mutable_leaf_request()->add_generations(generation);
    return fault_of(message);
  };
  CHECK(request(1) == "");
  CHECK(request(limits::kLeafGenerationsMax, limits::kGenerationCountMax - 1) == "");
  CHECK(names(request(0), "leaf request"));
  CHECK(names(request(limits::kLeafGenerationsMax + 1), "too many"));
  CHECK(names(request(1, limits::kGenerationCountMax), "number"));
}

TEST_CASE("leaves are whole and of no more blocks than a generation has") {
  const auto reply = [](std::size_t bytes, std::uint32_t generation = 0) {
    wire::PeerMessage message;
    message.mutable_leaf_reply()->set_generation(generation);
    message.mutable_leaf_reply()->set_leaves(std::string(bytes, 'l'));
    return fault_of(message);
  };
  CHECK(reply(0) == "");
  CHECK(reply(32 * limits::kGenerationSizeMax) == "");
  CHECK(names(reply(31), "wrong size"));
  CHECK(names(reply(33), "wrong size"));
  CHECK(names(reply(32 * (limits::kGenerationSizeMax + 1)), "wrong size"));
  CHECK(names(reply(32, limits::kGenerationCountMax), "number"));
}

TEST_CASE("source blocks are wanted of a bounded number of generations, as bits of one") {
  const auto state = [](std::size_t entries, std::size_t bytes) {
    wire::PeerMessage message;
    for (std::size_t i = 0; i < entries; ++i)
      message.mutable_state()->add_generations()->set_wanted_blocks(std::string(bytes, '\1'));
    return fault_of(message);
  };
  CHECK(state(limits::kWantedBlocksMax, limits::kGenerationSizeMax / 8) == "");
  CHECK(names(state(1, limits::kGenerationSizeMax / 8 + 1), "larger than any generation"));
  CHECK(names(state(limits::kWantedBlocksMax + 1, 1), "too many generations"));
}

TEST_CASE("blocks are held of generations of which blocks are wanted, as bits of one") {
  const auto state = [](std::size_t wanted, std::size_t held) {
    wire::PeerMessage message;
    auto& entry = *message.mutable_state()->add_generations();
    entry.set_wanted_blocks(std::string(wanted, '\1'));
    entry.set_held_blocks(std::string(held, '\1'));
    return fault_of(message);
  };
  CHECK(state(1, limits::kGenerationSizeMax / 8) == "");
  CHECK(names(state(1, limits::kGenerationSizeMax / 8 + 1), "larger than any generation"));
  CHECK(names(state(0, 1), "held where none are wanted"));
}

TEST_CASE("an urgency that is not known counts as the highest that is, and none as not urgent") {
  const auto urgency = [](std::optional<std::uint32_t> said) {
    wire::PeerMessage message;
    auto& entry = *message.mutable_state()->add_generations();
    if (said) entry.set_urgency(*said);
    const auto parsed = parse_peer_message(bytes_of(message.SerializeAsString()));
    REQUIRE(parsed.ok());
    return std::get<State>(*parsed).generations.front().urgency;
  };
  CHECK(urgency(std::nullopt) == kNotUrgent);
  CHECK(urgency(0) == kNotUrgent);
  CHECK(urgency(1) == kReadSoon);
  CHECK(urgency(2) == kAwaited);
  CHECK(urgency(7) == kAwaited);
  CHECK(urgency(UINT32_MAX) == kAwaited);
}
