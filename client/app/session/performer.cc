#include "client/app/session/performer.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace firn::app {

Performer::Performer(const SessionHost& host, std::uint32_t number, const SessionPlan& plan,
                     CoreDoors& core, SessionReading& reading, LifeEvents& life)
    : host_(host),
      number_(number),
      plan_(plan),
      life_(life),
      sources_(plan.core, life),
      staging_(host, plan, core),
      trackers_(host, plan, core, sources_, staging_),
      origins_(host, plan, core),
      answers_(host, plan, core, reading, origins_, life),
      peers_(host, plan, core, sources_) {}

DataPlane& Performer::start_coding(std::shared_ptr<store::ContentStore> store,
                                   const std::vector<std::uint32_t>& with_rows) {
  coding_ = std::make_unique<DataPlane>(host_.coding, number_, std::move(store),
                                        host_.row_bytes_max, with_rows, answers_);
  return *coding_;
}

void Performer::flush() {
  if (coding_) coding_->flush();
}

void Performer::wake(core::TimeUs now) {
  trackers_.wake(now);
  origins_.wake(now);
  if (coding_) coding_->wake(now);
}

core::TimeUs Performer::next_wake() const {
  return std::min(
      {trackers_.next_wake(), origins_.next_wake(), coding_ ? coding_->next_wake() : core::kNever});
}

void Performer::perform(core::Action& action) {
  if (const auto* part = std::get_if<core::KeepManifestPart>(&action)) return staging_.keep(*part);
  std::visit(
      [this](auto& chosen) {
        if constexpr (!std::is_same_v<decltype(chosen), core::KeepManifestPart&>) on(chosen);
      },
      action);
}

// --- with connections ---

void Performer::on(core::Connect& action) {
  peers_.connect(action);
}
void Performer::on(core::Close& action) {
  host_.connections.close(action.peer);
}
void Performer::on(core::Send& action) {
  host_.connections.send(action.peer, action.message);
}

// --- with the data plane ---

void Performer::on(core::SendBlock& action) {
  const BlockWanted wanted(action);
  const std::uint64_t ticket =
      host_.connections.reserve(action.peer, std::move(action.block), action.more_follow);
  if (ticket != 0) coding_->send_block(ticket, wanted, now());
}
void Performer::on(core::StoreRow& action) {
  coding_->store_row(action, now());
}
void Performer::on(core::MarkProven& action) {
  coding_->mark_proven(action);
}
void Performer::on(core::DoubtRows&) {
  coding_->doubt_rows();
}
void Performer::on(core::Decode& action) {
  coding_->decode(std::move(action), now());
}
void Performer::on(core::FetchFromOrigin& action) {
  origins_.fetch(action);
}
void Performer::on(core::DropRows& action) {
  coding_->drop_rows(action.generation);
}
void Performer::on(core::DropSlots& action) {
  coding_->drop_slots(action);
}
void Performer::on(core::JudgeRows& action) {
  coding_->judge_rows(std::move(action), now());
}
void Performer::on(core::MakeCheck& action) {
  coding_->make_check(action);
}
void Performer::on(core::MakeLeaves& action) {
  coding_->make_leaves(action);
}
void Performer::on(core::ContentComplete&) {
  coding_->finish();
}

// --- with trackers ---

void Performer::on(core::AnnounceTo& action) {
  trackers_.announce(action, now());
}
void Performer::on(core::FetchManifestFrom& action) {
  trackers_.fetch_manifest(action, now());
}

// --- with the session and the console ---

void Performer::on(core::ManifestArrived& action) {
  staging_.clear();
  life_.manifest_arrived(std::move(action.manifest));
}
void Performer::on(core::Finished&) {
  life_.core_finished();
}
void Performer::on(core::Notice& action) {
  if (!action.topic.empty()) {
    host_.console.repeated_notice(action, plan_.content_id, now());
  } else if (action.kind == core::Notice::Kind::kWarning) {
    host_.console.shared_warning(action.text, plan_.content_id);
  } else {
    host_.console.shared_info(action.text, plan_.content_id);
  }
}

}  // namespace firn::app
