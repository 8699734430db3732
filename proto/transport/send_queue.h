// Frames on their way out of one connection, cut into what one TLS record takes. Small pieces are
// gathered in a staging buffer of one record, so that a head does not cost a record of its own;
// whole records within a payload go out from where the payload lies.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "proto/messages.h"
#include "proto/transport/lazy_deque.h"
#include "proto/transport/tls.h"

namespace firn::proto::transport {

// One thread.
class SendQueue {
 public:
  void push(OutgoingFrame frame);

  // Bytes pushed and not yet consumed.
  std::size_t bytes() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }

  // The bytes to write next, at most one record; the same bytes again until they are consumed (as
  // OpenSSL demands of a write tried again). Empty if there is nothing to send.
  std::span<const std::uint8_t> record();
  void consume(std::size_t bytes);

 private:
  std::span<const std::uint8_t> front_piece() const;
  void advance(std::size_t bytes);

  LazyDeque<OutgoingFrame> frames_;
  std::size_t offset_ = 0;  // in frames_.front(), of what is neither staged nor sent
  std::size_t bytes_ = 0;
  std::span<const std::uint8_t> record_;
  bool record_is_staged_ = false;
  std::unique_ptr<std::array<std::uint8_t, kTlsRecordBytes>> staging_;
};

}  // namespace firn::proto::transport
