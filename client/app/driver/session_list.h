// The sessions of a process, one for each content.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "client/app/console/exit_codes.h"
#include "client/app/session/content_session.h"

namespace firn::app {

// Main thread.
class SessionList final : public ContentDirectory {
 public:
  // `host` outlives the list.
  // After start() it starts at once.
  ContentSession& add(const SessionHost& host, SessionPlan plan);
  // Destroys a session that has ended, with what is left of its connections. Not from within a turn
  // of the sessions.
  void remove(const ContentSession& ended);
  const std::vector<std::unique_ptr<ContentSession>>& all() const { return sessions_; }

  // What connections for a content are owned by; null while its session accepts none.
  PeerEvents* find(const ContentId& content) override;
  bool knows(const ContentId& content) override;
  // Asked of contents that are not found here: whether one of them is about to get a session. Must
  // stay callable while the driver runs.
  void expect(std::function<bool(const ContentId&)> expected) { expected_ = std::move(expected); }
  // Looks at every private content, so that the time tells nothing about which it is.
  Proven find_private(const proto::PrivateProof& proof,
                      const proto::transport::PeerInfo& connection) override;
  // Whether another session than `plan`'s downloads a content of its name into its folder.
  bool target_taken(const SessionPlan& plan) const;

  void start();
  void stop();
  void hang_up();
  void turn(core::TimeUs now);
  core::TimeUs next_wake() const;
  bool ended() const;
  // The first that is not kOk.
  ExitCode result() const;

 private:
  std::vector<std::unique_ptr<ContentSession>> sessions_;
  std::uint32_t next_number_ = 0;  // never given twice: caches know contents by their numbers
  bool started_ = false;
  std::function<bool(const ContentId&)> expected_;
};

}  // namespace firn::app
