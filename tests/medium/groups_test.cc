#include "client/medium/groups.h"

#include <doctest/doctest.h>

#include "tests/medium/plain_inner_code.h"

namespace firn::medium {
namespace {

Label some_label() {
  Label label;
  label.content.bytes.fill(9);
  label.inner = {10, 64, 4, 5};
  label.planned = {0.01, 0.02, 0.003};
  label.word_bytes = 60;
  label.data_bytes = 44;
  label.frames_per_group = 4;
  label.groups_per_label = 3;
  label.manifest_bytes = 500;
  label.block_bytes = 100;
  label.spare = {3, 10};
  label.place_count = 26;
  return label;
}

std::vector<std::uint8_t> payload_of(std::uint64_t place) {
  std::vector<std::uint8_t> payload(36, static_cast<std::uint8_t>(place));
  payload[1] = 200;
  return payload;
}

struct World {
  Label label = some_label();
  std::shared_ptr<const InnerCode> inner = std::make_shared<PlainInnerCode>(label.word_bytes);
  std::shared_ptr<const LabelCode> labels =
      std::make_shared<LabelCode>(std::make_shared<PlainInnerCode>(kLabelWordBytes));
  GroupWriter writer{label, inner, labels};
  GroupReader reader{label, inner};

  Bits medium() const {
    Bits bits;
    for (std::uint64_t group = 0; group < label.group_count(); ++group) {
      const Bits more = writer.group(group, payload_of);
      bits.insert(bits.end(), more.begin(), more.end());
    }
    const Bits end = writer.ending();
    bits.insert(bits.end(), end.begin(), end.end());
    return bits;
  }
};

std::vector<FoundMark> marks_in(const Bits& mark, Bits bits) {
  MarkFinder finder(mark);
  std::vector<FoundMark> found;
  bits.resize(bits.size() + MarkFinder::kReach);
  for (const std::uint8_t bit : bits)
    if (auto one = finder.next(bit)) found.push_back(*one);
  return found;
}

TEST_CASE("a label's bytes give the label again, and no damaged ones do") {
  const Label label = some_label();
  const auto bytes = label_to_bytes(label);
  REQUIRE(bytes.size() == kLabelBytes);
  const auto again = label_from_bytes(bytes);
  REQUIRE(again.ok());
  CHECK(again->same_medium(label));
  CHECK(label_to_bytes(*again) == bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] ^= 0x10;
    CHECK_FALSE(label_from_bytes(damaged).ok());
  }
}

TEST_CASE("a label that breaks a rule is refused though its check is right") {
  const auto refused = [](auto change) {
    Label label = some_label();
    change(label);
    return !label_from_bytes(label_to_bytes(label)).ok();
  };
  CHECK_FALSE(refused([](Label&) {}));
  CHECK(refused([](Label& label) { label.inner.codeword_bits = 1; }));
  CHECK(refused([](Label& label) { label.inner.alphabet = 48; }));
  CHECK(refused([](Label& label) { label.inner.distance = 30; }));
  CHECK(refused([](Label& label) { label.data_bytes = 60; }));
  CHECK(refused([](Label& label) { label.data_bytes = 8; }));
  CHECK(refused([](Label& label) { label.frames_per_group = 0; }));
  CHECK(refused([](Label& label) { label.groups_per_label = 0; }));
  CHECK(refused([](Label& label) { label.planned.insertion = 0.99; }));
  CHECK(refused([](Label& label) { label.manifest_bytes = 0; }));
  CHECK(refused([](Label& label) { label.block_bytes = 0xffffffff; }));
  CHECK(refused([](Label& label) { label.place_count = 0; }));
  CHECK(refused([](Label& label) { label.place_count = std::uint64_t{1} << 40; }));
  CHECK(refused([](Label& label) { label.group = 1000; }));
}

TEST_CASE("every frame and label of a medium is read again") {
  const World world;
  const Bits medium = world.medium();
  const Window window{0, medium};
  std::uint32_t frames = 0, next = 0;
  for (const FoundMark& mark : marks_in(world.reader.mark(), medium)) {
    const GroupReading group = world.reader.read(window, mark.end);
    for (const auto& frame : group.frames) {
      CHECK(frame.place == next++);
      CHECK(frame.payload == payload_of(frame.place));
      ++frames;
    }
  }
  CHECK(frames == world.label.place_count);
  std::vector<std::uint64_t> groups;
  for (const FoundMark& mark : marks_in(label_mark(), medium)) {
    const auto label = world.labels->read(window, mark.end);
    REQUIRE(label);
    CHECK(label->same_medium(world.label));
    groups.push_back(label->group);
  }
  CHECK(groups == std::vector<std::uint64_t>{0, 0, 3, 6, 7, 7});
}

TEST_CASE("frames with as many wrong bytes as the code corrects are read, others are lost") {
  const World world;
  Bits medium = world.writer.group(1, payload_of);
  const std::size_t word_bits = world.inner->word_bits();
  const auto spoil = [&](std::size_t frame, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) medium[128 + frame * word_bits + 8 * i + 3] ^= 1;
  };
  spoil(0, 8);
  spoil(1, 20);
  spoil(3, 3);
  const GroupReading group = world.reader.read({0, medium}, {128, {1.0}});
  CHECK(group.lost == 1);
  REQUIRE(group.frames.size() == 3);
  CHECK(group.frames[0].errors == 8);
  CHECK(group.frames[0].place == 4);
  CHECK(group.frames[1].place == 6);
  CHECK(group.frames[2].errors == 3);
}

TEST_CASE("uncertain bytes are erased, so that twice as many may be wrong") {
  const Label label = some_label();
  const FrameCode code(label);
  const auto any = [](std::uint32_t) { return true; };
  auto word = code.make(5, payload_of(5));
  std::vector<float> certainty(word.size(), 1.0f);
  for (std::size_t i = 0; i < 14; ++i) {
    word[3 * i] ^= 0x33;
    certainty[3 * i] = 0.4f;
  }
  word[1] ^= 1;
  const auto frame = code.read(word, certainty, any);
  REQUIRE(frame);
  CHECK(frame->place == 5);
  CHECK(frame->payload == payload_of(5));
  std::fill(certainty.begin(), certainty.end(), 1.0f);
  CHECK_FALSE(code.read(word, certainty, any));
}

TEST_CASE("a frame of another content, or in a place where it cannot be, is not taken") {
  Label label = some_label();
  const FrameCode code(label);
  const auto word = code.make(5, payload_of(5));
  const std::vector<float> certainty(word.size(), 1.0f);
  CHECK(code.read(word, certainty, [](std::uint32_t place) { return place == 5; }));
  CHECK_FALSE(code.read(word, certainty, [](std::uint32_t place) { return place != 5; }));
  label.content.bytes[31] ^= 1;
  CHECK_FALSE(FrameCode(label).read(word, certainty, [](std::uint32_t) { return true; }));
}

TEST_CASE("reading a group stops where the medium ends") {
  const World world;
  Bits medium = world.writer.group(1, payload_of);
  medium.resize(128 + 2 * world.inner->word_bits() + 40);
  const GroupReading group = world.reader.read({0, medium}, {128, {1.0}});
  CHECK(group.frames.size() == 2);
  CHECK(group.lost == 0);
}

}  // namespace
}  // namespace firn::medium
