// One generation as a receiver that samples keeps it: its innovative rows, until they can be
// decoded and compared with the digest in the manifest.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/span_basis.h"
#include "proto/content/manifest.h"
#include "proto/messages.h"

namespace firn::load {

class RowCheck {
 public:
  RowCheck(const Manifest& manifest, std::uint32_t generation);

  // False: it is redundant, and not kept.
  bool add(const proto::Block& block);
  // Of as many rows as the generation has blocks: decodes them. Errors: kCorrupt.
  Status compare() const;

 private:
  const Manifest& manifest_;
  const std::uint32_t generation_;
  codec::SpanBasis basis_;
  std::vector<std::vector<std::uint8_t>> vectors_;
  std::vector<proto::Payload> payloads_;
};

}  // namespace firn::load
