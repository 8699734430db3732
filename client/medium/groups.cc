#include "client/medium/groups.h"

#include <algorithm>

namespace firn::medium {
namespace {

void append(Bits& bits, const Bits& more) {
  bits.insert(bits.end(), more.begin(), more.end());
}

}  // namespace

GroupWriter::GroupWriter(const Label& label, std::shared_ptr<const InnerCode> inner,
                         std::shared_ptr<const LabelCode> labels)
    : label_(label), frames_(label), inner_(std::move(inner)), labels_(std::move(labels)) {
  FIRN_CHECK(inner_->word_bytes() == frames_.word_bytes());
}

Bits GroupWriter::label_bits(std::uint64_t group) const {
  Label label = label_;
  label.group = group;
  return labels_->encode(label);
}

Bits GroupWriter::group(std::uint64_t group, const PayloadOf& payload_of) const {
  Bits bits;
  if (group % label_.groups_per_label == 0) {
    if (group > 0) append(bits, inner_->mark());
    append(bits, label_bits(group));
    if (group == 0) append(bits, label_bits(group));
  }
  append(bits, inner_->mark());
  const std::uint64_t first = group * label_.frames_per_group;
  const std::uint64_t last = std::min(first + label_.frames_per_group, label_.place_count);
  for (std::uint64_t place = first; place < last; ++place)
    append(bits,
           inner_->encode(frames_.make(static_cast<std::uint32_t>(place), payload_of(place))));
  return bits;
}

Bits GroupWriter::ending() const {
  Bits bits = inner_->mark();
  append(bits, label_bits(label_.group_count()));
  append(bits, label_bits(label_.group_count()));
  return bits;
}

GroupReader::GroupReader(const Label& label, std::shared_ptr<const InnerCode> inner)
    : label_(label), frames_(label), inner_(std::move(inner)) {
  FIRN_CHECK(inner_->word_bytes() == frames_.word_bytes());
}

std::size_t GroupReader::bits_behind() const {
  // The drift of a whole group stays below a word's length.
  return inner_->word_bits() * label_.frames_per_group + inner_->bits_behind();
}

GroupReading GroupReader::read(const Window& window, const Boundary& start,
                               std::uint32_t frames_max) const {
  GroupReading group;
  Boundary boundary = start;
  group.end = boundary.bit();
  std::uint32_t failures = 0;
  const std::uint32_t per_group = label_.frames_per_group;
  for (std::uint32_t i = 0; i < std::min(per_group, frames_max); ++i) {
    const WordReading reading = inner_->read(window, boundary);
    if (!reading.found) {
      // Not counted where the medium, or the last group, ends.
      if (window.end() - boundary.bit() > static_cast<std::int64_t>(inner_->word_bits()))
        ++group.lost;
      return group;
    }
    group.log_likelihood += reading.log_likelihood;
    ++group.words;
    // The frames of a group know of each other where they must stand.
    const auto possible = [&](std::uint32_t place) {
      return place < label_.place_count && place % per_group == i &&
             (group.frames.empty() || place / per_group == group.frames[0].place / per_group);
    };
    auto frame = frames_.read(reading.word, reading.certainty, possible);
    if (frame) {
      failures = 0;
      group.frames.push_back(*std::move(frame));
    } else {
      ++group.lost;
      if (++failures == kFailuresMax) return group;
    }
    boundary = reading.end;
    group.end = boundary.bit();
    if (!group.frames.empty() && group.frames.back().place + 1 == label_.place_count) break;
  }
  return group;
}

}  // namespace firn::medium
