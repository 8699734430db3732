// Groups: a mark and some frames, the unit in which a medium is written and read. A reader that
// lost its place, or begins anywhere, begins anew at the next mark.
//
//   medium = label label { mark frame ... frame }*64 mark label { ... } ... mark label label
//
// A label stands at the beginning, behind every `groups_per_label` groups, and at the end; the
// first and the last twice. The mark before a label helps to read the frame before it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "client/medium/frame.h"
#include "client/medium/inner_code.h"
#include "client/medium/label.h"
#include "client/medium/label_code.h"
#include "client/medium/mark.h"

namespace firn::medium {

// The payload of a place.
using PayloadOf = std::function<std::vector<std::uint8_t>(std::uint64_t place)>;

class GroupWriter {
 public:
  GroupWriter(const Label& label, std::shared_ptr<const InnerCode> inner,
              std::shared_ptr<const LabelCode> labels);

  // Bits of group 0..group_count()-1, with the label that stands before it. Any thread.
  Bits group(std::uint64_t group, const PayloadOf& payload_of) const;
  // What follows the last group.
  Bits ending() const;

 private:
  Bits label_bits(std::uint64_t group) const;

  Label label_;
  FrameCode frames_;
  std::shared_ptr<const InnerCode> inner_;
  std::shared_ptr<const LabelCode> labels_;
};

struct GroupReading {
  std::vector<FrameCode::Frame> frames;
  std::uint32_t lost = 0;     // frames that were looked at and not read
  double log_likelihood = 0;  // of the words read, for comparing channels
  std::uint32_t words = 0;    // of these
  std::int64_t end = 0;       // bit at which reading ended
};

class GroupReader {
 public:
  GroupReader(const Label& label, std::shared_ptr<const InnerCode> inner);

  // Bits before and behind a mark's end that read() may look at.
  std::size_t bits_before() const { return inner_->bits_before(); }
  std::size_t bits_behind() const;
  const Bits& mark() const { return inner_->mark(); }

  // The frames behind a mark, at most `frames_max`. Stops where the bits fit no word, and after
  // kFailuresMax frames in succession that do not decode. Any thread.
  GroupReading read(const Window& window, const Boundary& start,
                    std::uint32_t frames_max = 0xffffffff) const;

  static constexpr std::uint32_t kFailuresMax = 2;

 private:
  Label label_;
  FrameCode frames_;
  std::shared_ptr<const InnerCode> inner_;
};

}  // namespace firn::medium
