// Epochs and what is said about them: from a message's body to validated values (peer_parse.cc
// finds the body in its frame).
#pragma once

#include <cstdint>
#include <span>

#include "proto/base/result.h"
#include "proto/messages.h"

namespace firn::proto {

// Errors: kProtocol with what is wrong. Signatures are not checked here, as it takes the content.
Result<Epoch> parse_epoch(std::span<const std::uint8_t> body);
Result<EpochRequest> parse_epoch_request(std::span<const std::uint8_t> body);
Result<EpochProof> parse_epoch_proof(std::span<const std::uint8_t> body);

}  // namespace firn::proto
