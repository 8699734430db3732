#include "client/app/session/coding_answers.h"

#include <fmt/format.h>

#include <utility>

#include "client/app/session/store_advice.h"

namespace firn::app {

using core::SwarmCore;

void CodingAnswers::row_stored(std::uint32_t, std::uint32_t) {
  core_.feed(&SwarmCore::row_stored);
}

void CodingAnswers::generation_decoded(std::uint32_t generation, core::DecodeOutcome outcome) {
  if (outcome != core::DecodeOutcome::kVerified)
    host_.console.debug(fmt::format("generation {}: {}", generation,
                                    outcome == core::DecodeOutcome::kCorrupt
                                        ? "decoded to something else than its digest says"
                                        : "rows could not be read back"));
  if (outcome == core::DecodeOutcome::kVerified) reading_.verified(generation);
  core_.feed(&SwarmCore::generation_decoded, generation, outcome);
}

void CodingAnswers::generation_fetched(std::uint32_t generation, core::DecodeOutcome outcome) {
  if (outcome == core::DecodeOutcome::kVerified) reading_.verified(generation);
  origins_.written(generation, outcome);
}

void CodingAnswers::rows_judged(std::uint32_t generation, const RowVerdict& verdict) {
  core_.feed(&SwarmCore::rows_judged, generation, verdict.right, verdict.wrong, verdict.readable);
}

void CodingAnswers::check_made(core::PeerKey peer, proto::CheckReply reply) {
  core_.feed(&SwarmCore::proof_made, peer, std::move(reply));
}

void CodingAnswers::leaves_made(core::PeerKey peer, proto::LeafReply reply) {
  core_.feed(&SwarmCore::proof_made, peer, std::move(reply));
}

void CodingAnswers::block_made(std::uint64_t ticket, proto::Payload payload) {
  host_.connections.fill(ticket, std::move(payload));
}

void CodingAnswers::exchanged_block_made(std::uint64_t ticket, std::vector<std::uint8_t> vector,
                                         proto::Payload payload) {
  host_.connections.fill(ticket, std::move(payload), std::move(vector));
}

void CodingAnswers::generation_lost(std::uint32_t generation, const Error& error,
                                    bool fetch_again) {
  reading_.lost(generation, fetch_again);
  core_.feed(&SwarmCore::generation_lost, generation,
             fetch_again ? error : advice_when_lost(plan_, error), fetch_again);
}

void CodingAnswers::generation_regained(std::uint32_t generation) {
  reading_.verified(generation);
  core_.feed(&SwarmCore::generation_regained, generation);
}

void CodingAnswers::store_warning(const std::string& text) {
  host_.console.warning(text, plan_.content_id);
}

void CodingAnswers::store_paused(const Error& error) {
  if (error.code == ErrorCode::kUnsupported) return life_.store_spoiled(advice_when_refused(error));
  origins_.pause(true);
  core_.feed(&SwarmCore::store_paused, advice_when_paused(plan_, error));
}

void CodingAnswers::store_resumed() {
  origins_.pause(false);
  core_.feed(&SwarmCore::store_resumed);
}

void CodingAnswers::store_finished() {
  life_.store_finished();
}

void CodingAnswers::store_spoiled(const Error& error) {
  life_.store_spoiled(error);
}

}  // namespace firn::app
