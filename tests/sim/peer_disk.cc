// What a simulated peer does with rows, generations and the tracker.
#include <algorithm>
#include <utility>

#include "codec/decode.h"
#include "codec/kernels.h"
#include "tests/sim/network.h"

namespace firn::sim {

void Peer::on(core::StoreRow& action) {
  const auto payload = action.payload.bytes();
  disk.rows[{action.generation, action.slot}] = {
      *action.vector, {payload.begin(), payload.end()}, action.sender};
  later(5000, [this] { row_stored(); });
}

void Peer::row_stored() {
  if (disk_paused_) {
    disk_work_.push_back([this] { row_stored(); });
    return;
  }
  --checker_->rows_waiting;
  core_->row_stored(now());
  act();
}

void Peer::pause_disk() {
  if (!core_ || finished_ || disk_paused_) return;
  disk_paused_ = true;
  core_->store_paused({ErrorCode::kDiskFull, "write", "simulated"}, now());
  act();
}

void Peer::resume_disk() {
  if (!core_ || finished_ || !disk_paused_) return;
  disk_paused_ = false;
  core_->store_resumed(now());
  for (const auto& work : std::exchange(disk_work_, {})) work();
  act();
}

void Peer::on(core::Decode& action) {
  later(2000, [this, action] { decode(action); });
}

void Peer::decode(const core::Decode& action) {
  if (disk_paused_) {
    disk_work_.push_back([this, action] { decode(action); });
    return;
  }
  const std::uint32_t g = action.generation;
  const auto& vectors = action.vectors;
  auto& random = network_.random();
  core::DecodeOutcome outcome = core::DecodeOutcome::kFailed;
  if (spec_.decode_fails == 0 || random.below(1000) >= spec_.decode_fails * 1000) {
    const Shape& shape = network_.content().manifest.info.shape;
    std::vector<const std::uint8_t*> rows, payloads;
    for (std::uint32_t slot = 0; slot < shape.blocks_in(g); ++slot) {
      rows.push_back(vectors[slot]->data());
      payloads.push_back(disk.rows.at({g, slot}).payload.data());
    }
    std::vector<std::uint8_t> out(shape.padded_bytes(g));
    const bool full = codec::decode_generation(codec::kernels(), shape.blocks_in(g),
                                               shape.block_bytes, rows, payloads, out);
    const auto truth = network_.content().generation(g);
    const bool right = full && std::equal(out.begin(), out.end(), truth.begin());
    if (right) disk.verified[g] = std::move(out);
    outcome = right ? core::DecodeOutcome::kVerified : core::DecodeOutcome::kCorrupt;
  }
  core_->generation_decoded(g, outcome, now());
  act();
}

void Peer::on(core::DropRows& action) {
  disk.rows.erase(disk.rows.lower_bound({action.generation, 0}),
                  disk.rows.lower_bound({action.generation + 1, 0}));
}

void Peer::on(core::KeepEvidence& action) {
  Evidence evidence{action.vectors, action.senders, {}};
  for (std::uint32_t slot = 0; slot < action.vectors.size(); ++slot) {
    const auto row = disk.rows.find({action.generation, slot});
    if (row != disk.rows.end()) evidence.payloads[slot] = row->second.payload;
  }
  core::DropRows drop{action.generation};
  on(drop);
  evidence_[action.generation] = std::move(evidence);
}

void Peer::on(core::CheckEvidence& action) {
  const auto it = evidence_.find(action.generation);
  if (it == evidence_.end()) return;
  const Shape& shape = network_.content().manifest.info.shape;
  const auto& truth = disk.verified.at(action.generation);
  std::vector<const std::uint8_t*> source;
  for (std::uint32_t i = 0; i < shape.blocks_in(action.generation); ++i) {
    source.push_back(truth.data() + std::size_t{i} * shape.block_bytes);
  }
  std::vector<PeerId> guilty;
  std::vector<std::uint8_t> expected(shape.block_bytes);
  for (const auto& [slot, payload] : it->second.payloads) {
    codec::kernels().combine(expected.data(), source.data(), it->second.vectors[slot]->data(),
                             source.size(), shape.block_bytes);
    if (expected == payload) continue;
    const PeerId& sender = it->second.senders[slot];
    if (std::find(guilty.begin(), guilty.end(), sender) == guilty.end()) guilty.push_back(sender);
  }
  evidence_.erase(it);
  later(1000, [this, g = action.generation, guilty] {
    core_->evidence_checked(g, guilty, now());
    act();
  });
}

void Peer::on(core::AnnounceTo& action) {
  network_.announce(index_, action.tracker, action.announce);
}

void Peer::on(core::FetchManifestFrom& action) {
  later(4 * spec_.link.delay, [this, tracker = action.tracker] {
    if (network_.tracker_up_ && network_.tracker_has_manifest_) {
      core_->tracker_manifest(tracker, network_.content().manifest.file_bytes, now());
    } else {
      core_->tracker_manifest(tracker, Error{ErrorCode::kUnreachable, "fetch", "simulated"}, now());
    }
    act();
  });
}

void Peer::on(core::ManifestArrived& action) {
  const Manifest& manifest = network_.content().manifest;
  if (action.manifest.file_bytes != manifest.file_bytes) network_.note(index_, "a false manifest");
  later(1000, [this] {
    begin();
    act();
  });
}

void Peer::on(core::ContentComplete&) {
  completed_at = network_.events().now();
  later(1000, [this] {
    core_->content_finished(now());
    act();
  });
}

void Peer::on(core::Finished&) {
  finished_ = true;
}

void Peer::on(core::Notice& action) {
  if (action.kind == core::Notice::Kind::kWarning) warnings.push_back(action.text);
}

}  // namespace firn::sim
