// Bits of anything read as a medium: by the label's parser, with its check made right, by the code
// of labels and by groups of frames, with the real inner code where the input is short.
#include <algorithm>
#include <cstring>

#include "client/medium/groups.h"
#include "client/medium/rows.h"
#include "client/medium/sync_inner_code.h"
#include "proto/base/digest.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/medium/plain_inner_code.h"

namespace firn::fuzz::medium {
using namespace firn::medium;

namespace {

Label small_label() {
  Label label;
  label.inner = {8, 16, 4, 1};
  label.planned = {0.01, 0.01, 0.001};
  label.word_bytes = 24;
  label.data_bytes = 14;
  label.frames_per_group = 3;
  label.manifest_bytes = 30;
  label.block_bytes = 6;
  label.place_count = 40;
  return label;
}

void parse_label(std::span<const std::uint8_t> data) {
  std::vector<std::uint8_t> bytes(kLabelBytes);
  std::copy_n(data.begin(), std::min(data.size(), bytes.size()), bytes.begin());
  (void)label_from_bytes(bytes);
  // As if whoever wrote it had made its check.
  std::memcpy(bytes.data(), "FIRNMED1", 8);
  std::memcpy(bytes.data() + kLabelBytes - 4,
              sha256(std::span(bytes).first(kLabelBytes - 4)).bytes.data(), 4);
  const auto label = label_from_bytes(bytes);
  if (!label.ok()) return;
  FIRN_CHECK(label->payload_bytes() > 0 && label->slices() > 0 && label->group_count() > 0);
  const auto again = label_from_bytes(label_to_bytes(*label));
  FIRN_CHECK(again.ok() && again->same_medium(*label) && again->group == label->group);
  const RowOrder order(label->manifest_shape().rows_of(), 1);
  if (label->place_count < order.count()) return;
  const Layout layout(order.count(), label->place_count - order.count());
  for (const std::uint64_t place : {std::uint64_t{0}, layout.count() / 2, layout.count() - 1}) {
    const Layout::Place at = layout.at(place);
    if (at.stream == Stream::kManifest) (void)order.at(at.index);
  }
}

void read_group(const Label& label, const std::shared_ptr<const InnerCode>& inner,
                const Bits& bits) {
  const GroupReader reader(label, inner);
  const auto begin = static_cast<std::int64_t>(std::min<std::size_t>(bits.size() / 4, 20));
  const GroupReading group = reader.read({0, bits}, {begin, {0.2, 1.0, 0.1}});
  FIRN_CHECK(group.frames.size() + group.lost <= label.frames_per_group);
  for (std::size_t i = 0; i < group.frames.size(); ++i) {
    FIRN_CHECK(group.frames[i].place < label.place_count);
    FIRN_CHECK(group.frames[i].payload.size() == label.payload_bytes());
  }
}

}  // namespace

FIRN_FUZZ_TARGET(medium) {
  static const Label label = small_label();
  static const auto plain = std::make_shared<PlainInnerCode>(label.word_bytes);
  static const auto real =
      SyncInnerCode::make(label.inner, label.word_bytes, label.planned).value();
  static const LabelCode labels(std::make_shared<PlainInnerCode>(kLabelWordBytes));
  parse_label({data, size});
  const Bits bits = unpack({data, std::min<std::size_t>(size, 4096)});
  if (bits.empty()) return 0;
  (void)labels.read({0, bits}, {0, {1.0}});
  read_group(label, plain, bits);
  if (size <= 200) read_group(label, real, bits);
  MarkFinder finder(label_mark());
  for (const std::uint8_t bit : bits)
    if (const auto mark = finder.next(bit)) FIRN_CHECK(mark->distance < kMarkBits / 4);
  return 0;
}

}  // namespace firn::fuzz::medium
