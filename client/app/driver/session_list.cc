#include "client/app/driver/session_list.h"

#include <algorithm>
#include <utility>

namespace firn::app {

ContentSession& SessionList::add(const SessionHost& host, SessionPlan plan) {
  sessions_.push_back(std::make_unique<ContentSession>(host, next_number_++, std::move(plan)));
  if (started_) sessions_.back()->start();
  return *sessions_.back();
}

void SessionList::remove(const ContentSession& ended) {
  FIRN_CHECK(ended.ended());
  const auto found =
      std::ranges::find_if(sessions_, [&](const auto& session) { return session.get() == &ended; });
  FIRN_CHECK(found != sessions_.end());
  (*found)->hang_up();
  sessions_.erase(found);
}

PeerEvents* SessionList::find(const ContentId& content) {
  for (const auto& session : sessions_)
    if (session->plan().content_id == content && !session->peers().greeting() &&
        session->accepts_peers())
      return &session->peers();
  return nullptr;
}

bool SessionList::knows(const ContentId& content) {
  const bool has_session = std::ranges::any_of(sessions_, [&](const auto& session) {
    return session->plan().content_id == content && !session->peers().greeting();
  });
  return has_session || (expected_ && expected_(content));
}

ContentDirectory::Proven SessionList::find_private(const proto::PrivateProof& proof,
                                                   const proto::transport::PeerInfo& connection) {
  Proven found;
  for (const auto& session : sessions_) {
    const PrivateGreeting* const greeting = session->peers().greeting();
    if (!greeting || !greeting->proven(proof, connection)) continue;
    found = {session->accepts_peers() ? &session->peers() : nullptr, greeting};
  }
  return found;
}

bool SessionList::target_taken(const SessionPlan& plan) const {
  return std::ranges::any_of(sessions_, [&](const auto& other) {
    return &other->plan() != &plan && other->has_target() &&
           plan.mode == SessionPlan::Mode::kDownload && other->plan().name() == plan.name() &&
           other->plan().dir == plan.dir;
  });
}

void SessionList::start() {
  started_ = true;
  for (const auto& session : sessions_) session->start();
}

void SessionList::stop() {
  for (const auto& session : sessions_) session->stop();
}

void SessionList::hang_up() {
  for (const auto& session : sessions_) session->hang_up();
}

void SessionList::turn(core::TimeUs now) {
  for (const auto& session : sessions_) session->turn(now);
}

core::TimeUs SessionList::next_wake() const {
  core::TimeUs at = core::kNever;
  for (const auto& session : sessions_) at = std::min(at, session->next_wake());
  return at;
}

bool SessionList::ended() const {
  return std::ranges::all_of(sessions_, [](const auto& session) { return session->ended(); });
}

ExitCode SessionList::result() const {
  for (const auto& session : sessions_)
    if (session->result() != ExitCode::kOk) return session->result();
  return ExitCode::kOk;
}

}  // namespace firn::app
