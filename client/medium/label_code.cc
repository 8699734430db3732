#include "client/medium/label_code.h"

#include "client/medium/frame.h"
#include "client/medium/mark.h"
#include "client/medium/sync_inner_code.h"

namespace firn::medium {

LabelCode::LabelCode()
    : LabelCode(SyncInnerCode::make(kLabelInner, kLabelWordBytes, kLabelRates).value()) {}

LabelCode::LabelCode(std::shared_ptr<const InnerCode> inner) : inner_(std::move(inner)) {
  FIRN_CHECK(inner_->word_bytes() == kLabelWordBytes);
}

Bits LabelCode::encode(const Label& label) const {
  std::vector<std::uint8_t> word = label_to_bytes(label);
  word.resize(kLabelWordBytes);
  code_.encode(std::span(word).first(kLabelBytes), std::span(word).subspan(kLabelBytes));
  Bits bits = label_mark();
  const Bits coded = inner_->encode(word);
  bits.insert(bits.end(), coded.begin(), coded.end());
  bits.insert(bits.end(), inner_->mark().begin(), inner_->mark().end());
  return bits;
}

std::size_t LabelCode::bits_behind() const {
  return inner_->bits_behind();
}

std::optional<Label> LabelCode::read(const Window& window, const Boundary& start) const {
  const WordReading reading = inner_->read(window, start);
  if (!reading.found) return std::nullopt;
  // Erasing the less certain quarter of the parity's number leaves three eighths of it for errors.
  const auto weakest = FrameCode::weakest_first(reading.certainty);
  for (const std::size_t count : {std::size_t{0}, code_.parity_bytes() / 4,
                                  code_.parity_bytes() / 2, 3 * code_.parity_bytes() / 4}) {
    std::vector<std::uint8_t> word = reading.word;
    if (!code_.decode(word, std::span(weakest).first(count)).ok) continue;
    auto label = label_from_bytes(std::span(word).first(kLabelBytes));
    if (label.ok()) return *label;
  }
  return std::nullopt;
}

}  // namespace firn::medium
