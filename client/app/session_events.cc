// A session's traffic: what it hears goes to the core, what the core decides goes out.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "client/app/backends/accounting.h"
#include "client/app/content_session.h"
#include "client/content/find_folder.h"
#include "proto/base/stage_times.h"

namespace firn::app {

// --- from peers ---

void ContentSession::peer_opened(core::PeerKey peer, const proto::transport::PeerInfo& info,
                                 std::uint64_t attempt) {
  if (const auto dialled = dialled_.find(attempt); dialled != dialled_.end()) {
    source_heard(dialled->second, false);
    dialled_.erase(dialled);
  }
  if (const auto call = calls_.find(attempt); call != calls_.end()) {
    host_.console.debug(
        fmt::format("{}: connected to peer {}", call->second, info.id.short_text()));
    calls_.erase(call);
  } else {
    host_.console.debug(fmt::format("peer {} at {} called", info.id.short_text(),
                                    to_text(Address{{}, info.ip, info.port})));
  }
  core_->peer_opened(peer, info.id, info.ip, info.port, attempt, now());
  changed();
}

void ContentSession::connect_failed(std::uint64_t attempt, const Error& error) {
  if (const auto call = calls_.find(attempt); call != calls_.end()) {
    host_.console.debug(call->second + ": " + error.message());
    calls_.erase(call);
  }
  core_->connect_failed(attempt, error, now());
  changed();
  if (const auto dialled = dialled_.find(attempt); dialled != dialled_.end()) {
    const std::string source = dialled->second;
    dialled_.erase(dialled);
    source_heard(source, error.code == ErrorCode::kWrongIdentity);
  }
}

void ContentSession::peer_closed(core::PeerKey peer, const Error& error) {
  host_.console.debug(error.message());
  core_->peer_closed(peer, now(), error.detail);
  changed();
}

void ContentSession::peer_broke_protocol(core::PeerKey peer, const Error& error) {
  core_->peer_broke_protocol(peer, error.message(), now());
  changed();
}

void ContentSession::peer_message(core::PeerKey peer, proto::PeerMessage message,
                                  std::size_t frame_bytes) {
  {
    const StageScope stage(Stage::kCore);
    core_->message(peer, std::move(message), frame_bytes, now());
  }
  changed();
}

void ContentSession::block_departed(core::PeerKey peer, std::size_t frame_bytes) {
  {
    const StageScope stage(Stage::kCore);
    core_->block_departed(peer, frame_bytes, now());
  }
  changed();
}

void ContentSession::manifest_part_departed(core::PeerKey peer) {
  core_->manifest_part_departed(peer, now());
  changed();
}

// --- from the data plane ---

void ContentSession::row_stored(std::uint32_t, std::uint32_t) {
  core_->row_stored(now());
  changed();
}

void ContentSession::generation_decoded(std::uint32_t generation, core::DecodeOutcome outcome) {
  if (outcome != core::DecodeOutcome::kVerified)
    host_.console.debug(fmt::format("generation {}: {}", generation,
                                    outcome == core::DecodeOutcome::kCorrupt
                                        ? "decoded to something else than its digest says"
                                        : "rows could not be read back"));
  core_->generation_decoded(generation, outcome, now());
  changed();
}

void ContentSession::evidence_checked(std::uint32_t generation, const std::vector<PeerId>& guilty) {
  core_->evidence_checked(generation, guilty, now());
  changed();
}

void ContentSession::block_made(std::uint64_t ticket, proto::Payload payload) {
  host_.connections.fill(ticket, std::move(payload));
}

void ContentSession::exchanged_block_made(std::uint64_t ticket, std::vector<std::uint8_t> vector,
                                          proto::Payload payload) {
  host_.connections.fill(ticket, std::move(payload), std::move(vector));
}

void ContentSession::generation_lost(std::uint32_t generation, const Error& error,
                                     bool fetch_again) {
  Error plain = error;
  if (!fetch_again && (error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kNotFound)) {
    if (plan_.mode != SessionPlan::Mode::kServe) {
      plain.detail += "; the file was complete, so it is left as it is";
    } else if (error.code == ErrorCode::kCorrupt) {
      plain.detail += "; firn get --repair brings the file back, firn share shares it as it is now";
    } else {
      plain.detail += "; bring the file back, and it is served again";
    }
  }
  core_->generation_lost(generation, plain, fetch_again, now());
  changed();
}

void ContentSession::generation_regained(std::uint32_t generation) {
  core_->generation_regained(generation, now());
  changed();
}

void ContentSession::store_warning(const std::string& text) {
  host_.console.warning(text, plan_.content_id);
}

void ContentSession::store_paused(const Error& error) {
  Error advice = error;
  if (!advice.detail.empty()) advice.detail += "; ";
  switch (error.code) {
    case ErrorCode::kDiskFull:
      advice.detail += "free space for " + plan_.dir;
      break;
    case ErrorCode::kReadOnly:
      advice.detail += "make " + plan_.dir + " writable";
      break;
    case ErrorCode::kNotFound:
      advice.detail += "bring it back (if it is gone for good, stop and start again)";
      break;
    case ErrorCode::kExists:
      advice.detail += "move it away";
      break;
    default:
      advice.detail += "look after the disk of " + plan_.dir;
      break;
  }
  advice.detail += "; the download then goes on by itself";
  core_->store_paused(advice, now());
  changed();
}

void ContentSession::store_resumed() {
  core_->store_resumed(now());
  changed();
}

void ContentSession::store_finished() {
  if (phase_ == Phase::kEnded) return;  // too late to say so; the next run finds it complete
  complete_ = true;
  if (phase_ == Phase::kLeaving) result_ = ExitCode::kOk;  // it was told to stop just before
  coding_->serve_everything();
  core_->content_finished(now());
  last_report_ = core_->report();
  const double seconds = 1e-6 * static_cast<double>(now() - started_at_);
  Json complete = complete_event(*plan_.manifest, seconds, last_report_);
  complete["stages"] = stages_json(host_.stages.times());
  complete["codec"] = codec_json(host_.coding.coder);
  host_.console.event(complete);
  host_.console.clear_progress();  // other contents' comes again with the next report
  if (!stood_complete_)
    host_.console.info(fmt::format("{}: complete and verified after {:.1f} s", name(), seconds),
                       plan_.content_id);
  run_on_complete();
  changed();
}

// Everything else is done and durable; nothing is gained by staying.
void ContentSession::store_spoiled(const Error& error) {
  host_.console.error(error, plan_.content_id);
  result_ = exit_code_of(error);
  spoiled_ = true;
  core_->stop(now());
  changed();
}

void ContentSession::run_on_complete() {
  if (plan_.on_complete.empty()) return;
  child_running_ = true;
  await_child_ = phase_ == Phase::kLeaving;  // exit code 0 promises that it has run
  const Status started = host_.loop.run_shell(
      plan_.on_complete,
      {{"FIRN_CONTENT_ID", plan_.content_id.text()},
       {"FIRN_DIR", plan_.dir},
       {"FIRN_NAME", plan_.manifest->info.name}},
      [this, alive = alive_](int status) {
        if (!*alive) return;
        child_running_ = false;
        if (status != 0) {
          result_ = ExitCode::kOnComplete;
          host_.console.error("on_complete",
                              fmt::format("'{}' ended with {}", plan_.on_complete, status),
                              plan_.content_id);
        }
        host_.changed();
      });
  if (started.ok()) return;
  child_running_ = false;
  result_ = ExitCode::kOnComplete;
  host_.console.error(started.error(), plan_.content_id);
}

// --- from trackers ---

void ContentSession::tracker_replied(std::size_t tracker, const proto::AnnounceReply& reply) {
  trackers_heard_[tracker] = true;
  source_heard("tracker " + to_text(plan_.core.trackers[tracker]), false);
  host_.console.debug(fmt::format("tracker {}: {} complete, {} incomplete, {} addresses",
                                  to_text(trackers_[tracker]->address()), reply.complete_count,
                                  reply.incomplete_count, reply.peers.size()));
  core_->tracker_replied(tracker, reply, now());
  changed();
}

void ContentSession::tracker_failed(std::size_t tracker, const Error& error,
                                    std::uint32_t retry_seconds) {
  trackers_heard_[tracker] = true;
  core_->tracker_failed(tracker, error, retry_seconds, now());
  changed();
  source_heard("tracker " + to_text(plan_.core.trackers[tracker]),
               error.code == ErrorCode::kWrongIdentity);
}

void ContentSession::tracker_manifest(std::size_t tracker, Result<std::string> file_bytes) {
  core_->tracker_manifest(tracker, std::move(file_bytes), now());
  changed();
}

void ContentSession::tracker_key_seen(std::size_t, const Address& pinned) {
  host_.console.shared_info(
      fmt::format("tracker {} (its key was seen first now and is kept for this run)",
                  to_text(pinned)),
      plan_.content_id);
}

void ContentSession::source_heard(const std::string& source, bool wrong_identity) {
  const auto found = sources_wrong_.find(source);
  if (found == sources_wrong_.end()) return;
  found->second = wrong_identity;
  if (!wrong_identity || complete_ || phase_ >= Phase::kLeaving) return;
  if (core_->report().peers > 0) return;
  if (!std::all_of(sources_wrong_.begin(), sources_wrong_.end(),
                   [](const auto& entry) { return entry.second; }))
    return;
  fail(Error{ErrorCode::kWrongIdentity, "reach " + source,
             "whoever answers there has another key, and no other address is known"});
}

// --- the core's decisions ---

void ContentSession::perform(core::Action& action) {
  std::visit([this](auto& chosen) { perform(chosen); }, action);
}

void ContentSession::perform(core::Connect& action) {
  const auto& given = plan_.core.peers;
  if (std::find(given.begin(), given.end(), action.address) != given.end())
    dialled_[action.attempt] = "peer " + to_text(action.address);
  calls_[action.attempt] = to_text(action.address);
  host_.console.debug("calling " + to_text(action.address));
  host_.connections.connect(*this, action.attempt, action.address);
}

void ContentSession::perform(core::Close& action) {
  host_.connections.close(action.peer);
}

void ContentSession::perform(core::Send& action) {
  host_.connections.send(action.peer, action.message);
}

void ContentSession::perform(core::SendBlock& action) {
  const std::uint64_t ticket = host_.connections.reserve(action.peer, action.block);
  if (ticket != 0) coding_->send_block(ticket, std::move(action), now());
}

void ContentSession::perform(core::StoreRow& action) {
  coding_->store_row(action, now());
}
void ContentSession::perform(core::Decode& action) {
  coding_->decode(std::move(action), now());
}
void ContentSession::perform(core::DropRows& action) {
  coding_->drop_rows(action.generation);
}
void ContentSession::perform(core::KeepEvidence& action) {
  coding_->keep_evidence(std::move(action), now());
}
void ContentSession::perform(core::CheckEvidence& action) {
  coding_->check_evidence(action.generation);
}

void ContentSession::perform(core::AnnounceTo& action) {
  trackers_[action.tracker]->announce(action.announce, now());
}
void ContentSession::perform(core::FetchManifestFrom& action) {
  trackers_[action.tracker]->fetch_manifest(now());
}

void ContentSession::perform(core::ManifestArrived& action) {
  plan_.manifest = std::move(action.manifest);
  if (plan_.mode == SessionPlan::Mode::kManifestOnly) {
    core_->stop(now());
    changed();
    return;
  }
  if (plan_.mode == SessionPlan::Mode::kServe) {
    // As for a manifest that was there at the start.
    const std::string found = content::find_content_folder(plan_.manifest->info, plan_.dir);
    if (found != plan_.dir)
      host_.console.info(plan_.dir + " does not hold " + name() + "; taking the one in " + found,
                         plan_.content_id);
    plan_.dir = found;
  }
  open_store();
}

void ContentSession::perform(core::ContentComplete&) {
  coding_->finish();
}
void ContentSession::perform(core::Finished&) {
  leave(now());
}

void ContentSession::perform(core::Notice& action) {
  if (action.kind == core::Notice::Kind::kWarning) {
    host_.console.shared_warning(action.text, plan_.content_id);
  } else {
    host_.console.shared_info(action.text, plan_.content_id);
  }
}

}  // namespace firn::app
