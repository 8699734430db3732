#include "proto/wire_fields.h"

#include <google/protobuf/wire_format_lite.h>

#include "proto/base/plain_text.h"

namespace firn::proto {

using google::protobuf::internal::WireFormatLite;

FieldReader::FieldReader(std::span<const std::uint8_t> message)
    : message_(message), input_(message.data(), static_cast<int>(message.size())) {}

bool FieldReader::fail() {
  ok_ = false;
  return false;
}

bool FieldReader::next() {
  if (!ok_) return false;
  while (const std::uint32_t tag = input_.ReadTag()) {
    number_ = WireFormatLite::GetTagFieldNumber(tag);
    if (number_ == 0) return fail();
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_VARINT:
        is_bytes_ = false;
        return input_.ReadVarint64(&varint_) || fail();
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
        int length = 0;
        if (!input_.ReadVarintSizeAsInt(&length)) return fail();
        const auto begin = static_cast<std::size_t>(input_.CurrentPosition());
        if (static_cast<std::size_t>(length) > message_.size() - begin) return fail();
        is_bytes_ = true;
        bytes_ = message_.subspan(begin, static_cast<std::size_t>(length));
        return input_.Skip(length) || fail();
      }
      default:
        if (!WireFormatLite::SkipField(&input_, tag)) return fail();
    }
  }
  ok_ = input_.ConsumedEntireMessage();  // a tag of 0 is the end, or not a tag
  return false;
}

bool count_fits(std::span<const std::uint8_t> message, int field, std::size_t count_max) {
  std::size_t count = 0;
  FieldReader fields(message);
  while (fields.next())
    if (fields.is_bytes(field) && ++count > count_max) return false;
  return fields.ok();
}

bool text_fits(std::span<const std::uint8_t> message, int field, std::size_t bytes_max) {
  FieldReader fields(message);
  while (fields.next())
    if (fields.is_bytes(field) &&
        (fields.bytes().size() > bytes_max || !is_plain_text(as_text(fields.bytes()))))
      return false;
  return fields.ok();
}

}  // namespace firn::proto
