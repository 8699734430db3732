// A look at the fields of one protobuf message without making the message: for a block's payload,
// which must not go through a string, and for checks that come before memory is taken (how many
// entries, how long a text). Built on protobuf's CodedInputStream.
#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace firn::proto {

// One pass over a message's fields in the order they lie. Fields of the fixed-width types and
// groups, which no schema of ours uses, are skipped. `message` must outlive the reader and its
// bytes() views; it must be smaller than 2 GiB.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::uint8_t> message);

  // Moves to the next field. False at the end of the message, or where it is malformed: see ok().
  bool next();
  // After next() was false: whether the whole message was well-formed.
  bool ok() const { return ok_; }

  // Whether the field is number `field` and length-delimited, or a varint. Like protobuf's own
  // parser, a known number with another type counts as an unknown field.
  bool is_bytes(int field) const { return is_bytes_ && number_ == field; }
  bool is_varint(int field) const { return !is_bytes_ && number_ == field; }
  bool is_bytes() const { return is_bytes_; }
  int number() const { return number_; }

  std::span<const std::uint8_t> bytes() const { return bytes_; }
  std::uint64_t varint() const { return varint_; }

 private:
  bool fail();

  std::span<const std::uint8_t> message_;
  google::protobuf::io::CodedInputStream input_;
  int number_ = 0;
  bool is_bytes_ = false;
  bool ok_ = true;
  std::span<const std::uint8_t> bytes_;
  std::uint64_t varint_ = 0;
};

// Both are false as well where the message is malformed: the generated parsers notice that late,
// after they have made objects of what comes first.

// Whether there are at most `count_max` of the length-delimited `field`.
bool count_fits(std::span<const std::uint8_t> message, int field, std::size_t count_max);

// Whether every occurrence of the text `field` is plain text of at most `bytes_max` bytes. Asked
// before the generated parser, which writes to stderr when it meets text that is not UTF-8.
bool text_fits(std::span<const std::uint8_t> message, int field, std::size_t bytes_max);

inline std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace firn::proto
