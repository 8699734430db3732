// How a label stands on a medium: a fixed, strong code of its own, so that a reader needs to know
// nothing before it has read one.
//
//   label's mark | word of 180 bytes (116 of the label, 64 of parity) | the inner code's mark
//
// The inner code is n = 12, q = 16 with an indel distance of 6: a third of the rate, and symbol
// errors of 3 % where 5 % of the bits are lost and as many gained.
#pragma once

#include <memory>
#include <optional>

#include "client/medium/inner_code.h"
#include "client/medium/label.h"
#include "codec/reed_solomon/reed_solomon.h"

namespace firn::medium {

// The shape of labels' inner code, and the channel that its decoder assumes.
inline constexpr InnerShape kLabelInner{12, 16, 6, 1};
inline constexpr Rates kLabelRates{0.02, 0.02, 0.01};
inline constexpr std::size_t kLabelWordBytes = kLabelBytes + 64;

// Immutable; any thread.
class LabelCode {
 public:
  // The inner code that media have, or another one for tests; of words of kLabelWordBytes.
  LabelCode();
  explicit LabelCode(std::shared_ptr<const InnerCode> inner);

  Bits encode(const Label& label) const;

  // Bits behind the end of a mark that read() wants to see.
  std::size_t bits_behind() const;
  // The label behind a mark, if one can be read there.
  std::optional<Label> read(const Window& window, const Boundary& start) const;

 private:
  codec::ReedSolomon code_{kLabelWordBytes, kLabelBytes};
  std::shared_ptr<const InnerCode> inner_;
};

}  // namespace firn::medium
