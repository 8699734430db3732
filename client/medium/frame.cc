#include "client/medium/frame.h"

#include <algorithm>
#include <numeric>

#include "codec/random.h"
#include "proto/base/digest.h"
#include "proto/base/little_endian.h"

namespace firn::medium {
namespace {

constexpr std::uint64_t kKeySeed = 0x4649524e4d454431;  // the key stream of all media

// A byte is best erased where it is wrong more often than this: an erasure costs half an error.
// Measured in section 7 F of the decoder's specification; 0.5 to 0.9 differ little.
constexpr float kErasedBelow = 0.7f;

}  // namespace

FrameCode::FrameCode(const Label& label)
    : code_(label.word_bytes, label.data_bytes), content_(label.content), key_(label.data_bytes) {
  codec::CoefficientStream(kKeySeed, 0).fill(key_);
}

std::uint32_t FrameCode::check_of(std::uint32_t place,
                                  std::span<const std::uint8_t> payload) const {
  std::uint8_t number[4];
  put_field(number, 0, place);
  Sha256 hash;
  hash.update(content_.bytes);
  hash.update(number);
  hash.update(payload);
  return get_field<std::uint32_t>(hash.finish().bytes, 0);
}

std::vector<std::uint8_t> FrameCode::make(std::uint32_t place,
                                          std::span<const std::uint8_t> payload) const {
  FIRN_CHECK(payload.size() <= payload_bytes());
  std::vector<std::uint8_t> word(word_bytes());
  std::copy(payload.begin(), payload.end(), word.begin() + Label::kFrameHeaderBytes);
  const std::span data = std::span(word).first(code_.data_bytes());
  put_field(word, 0, place);
  put_field(word, 4, check_of(place, data.subspan(Label::kFrameHeaderBytes)));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] ^= key_[i];
  code_.encode(data, std::span(word).subspan(data.size()));
  return word;
}

std::optional<FrameCode::Frame> FrameCode::attempt(
    std::span<const std::uint8_t> received, std::span<const std::uint8_t> erased,
    const std::function<bool(std::uint32_t)>& possible) const {
  std::vector<std::uint8_t> word(received.begin(), received.end());
  const auto decoded = code_.decode(word, erased);
  if (!decoded.ok) return std::nullopt;
  const std::span data = std::span(word).first(code_.data_bytes());
  for (std::size_t i = 0; i < data.size(); ++i) data[i] ^= key_[i];
  Frame frame;
  frame.place = get_field<std::uint32_t>(data, 0);
  const std::span payload = data.subspan(Label::kFrameHeaderBytes);
  if (!possible(frame.place) || get_field<std::uint32_t>(data, 4) != check_of(frame.place, payload))
    return std::nullopt;
  frame.payload.assign(payload.begin(), payload.end());
  frame.errors = decoded.errors;
  return frame;
}

std::vector<std::uint8_t> FrameCode::weakest_first(std::span<const float> certainty) {
  std::vector<std::uint8_t> order(certainty.size());
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint8_t a, std::uint8_t b) { return certainty[a] < certainty[b]; });
  return order;
}

std::size_t FrameCode::doubtful(std::span<const float> certainty) {
  return static_cast<std::size_t>(
      std::count_if(certainty.begin(), certainty.end(), [](float c) { return c < kErasedBelow; }));
}

// Few, so that no wrong word has many chances to have a right check by accident.
std::vector<std::size_t> FrameCode::erasure_counts(std::size_t doubtful, std::size_t parity_bytes) {
  std::vector<std::size_t> counts;
  for (const std::size_t count :
       {std::min(doubtful, parity_bytes), parity_bytes / 2, std::size_t{0}, 3 * parity_bytes / 4})
    if (std::find(counts.begin(), counts.end(), count) == counts.end()) counts.push_back(count);
  return counts;
}

std::optional<FrameCode::Frame> FrameCode::read(
    std::span<const std::uint8_t> word, std::span<const float> certainty,
    const std::function<bool(std::uint32_t)>& possible) const {
  FIRN_CHECK(word.size() == word_bytes() && certainty.size() == word_bytes());
  const auto weakest = weakest_first(certainty);
  for (const std::size_t count : erasure_counts(doubtful(certainty), code_.parity_bytes()))
    if (auto frame = attempt(word, std::span(weakest).first(count), possible)) return frame;
  return std::nullopt;
}

}  // namespace firn::medium
