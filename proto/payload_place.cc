#include "proto/payload_place.h"

#include <google/protobuf/wire_format_lite.h>

#include "proto/wire.h"

namespace firn::proto {
namespace {

using google::protobuf::internal::WireFormatLite;

constexpr std::size_t kVarintBytesMax = 10;
// A vector of the largest generation and a State of usual size. With more before it a payload is
// not looked for: each look begins at the first field.
constexpr std::size_t kHeadBytesMax = 8 << 10;

// Reads numbers up to the end of what has come.
class Cursor {
 public:
  explicit Cursor(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  enum class Read { kDone, kEnds, kBad };
  Read varint(std::uint64_t& value) {
    value = 0;
    for (std::size_t i = 0; i < kVarintBytesMax; ++i) {
      if (at_ == bytes_.size()) return Read::kEnds;
      const std::uint8_t octet = bytes_[at_++];
      value |= std::uint64_t{octet & 0x7fu} << (7 * i);
      if (octet < 0x80) return Read::kDone;
    }
    return Read::kBad;
  }
  std::size_t at() const { return at_; }
  void skip(std::size_t bytes) { at_ += bytes; }  // not past the end

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

PayloadPlace::Outcome outcome_of(Cursor::Read read) {
  return read == Cursor::Read::kEnds ? PayloadPlace::Outcome::kLater : PayloadPlace::Outcome::kNone;
}

constexpr std::size_t kFieldsMax = 16;  // a Block has half as many

constexpr std::uint32_t tag_of(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}

}  // namespace

PayloadPlace find_payload(std::span<const std::uint8_t> head, std::size_t frame_bytes) {
  using Outcome = PayloadPlace::Outcome;
  Cursor cursor(head.first(std::min(head.size(), kHeadBytesMax)));
  const Outcome at_end = head.size() < kHeadBytesMax ? Outcome::kLater : Outcome::kNone;
  const auto stopped = [&](Cursor::Read read) {
    const Outcome outcome = outcome_of(read);
    return PayloadPlace{outcome == Outcome::kLater ? at_end : outcome};
  };
  std::uint64_t tag = 0, length = 0;
  if (const auto read = cursor.varint(tag); read != Cursor::Read::kDone) return stopped(read);
  if (tag != tag_of(wire::PeerMessage::kBlockFieldNumber)) return {};
  if (const auto read = cursor.varint(length); read != Cursor::Read::kDone) return stopped(read);
  if (length != frame_bytes - cursor.at()) return {};

  // Each look begins anew, so that many small fields would cost the square of their number.
  const std::size_t fields_begin = cursor.at();
  for (std::size_t field = 0; field < kFieldsMax; ++field) {
    const std::size_t field_begin = cursor.at();
    if (field_begin >= frame_bytes) return {};
    if (const auto read = cursor.varint(tag); read != Cursor::Read::kDone) return stopped(read);
    if (const auto read = cursor.varint(length); read != Cursor::Read::kDone) return stopped(read);
    if ((tag & 7) == WireFormatLite::WIRETYPE_VARINT) continue;  // that was its value
    if ((tag & 7) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) return {};
    const std::size_t left = frame_bytes - std::min(cursor.at(), frame_bytes);
    if (length > left) return {};
    if (tag == tag_of(wire::Block::kPayloadFieldNumber) && length == left && length > 0)
      return {Outcome::kFound, fields_begin, field_begin, cursor.at()};
    if (length > std::min(head.size(), kHeadBytesMax) - cursor.at()) return {at_end};
    cursor.skip(length);
  }
  return {};
}

}  // namespace firn::proto
