// What `firn play` starts: a player with a playlist of streams.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/app/console/console.h"
#include "client/app/console/exit_codes.h"
#include "client/app/runtime/event_loop.h"
#include "client/app/runtime/temporary_folder.h"
#include "client/app/stream/playlist.h"
#include "proto/base/result.h"

namespace firn::app {

// What there is to play: entries, and the URL of all of them.
struct Playing {
  std::vector<PlaylistEntry> entries;
  std::string playlist;
};

// Without a player: prints the URL.
class Player {
 public:
  // `command`: shell words before the playlist's name; empty: none. Both outlive this object.
  Player(EventLoop& loop, Console& console, std::string command)
      : loop_(loop), console_(console), command_(std::move(command)) {}

  // Once. `ended` is called when the player has ended. Errors: as errno says, and as
  // EventLoop::run_shell()'s.
  Status begin(const Playing& playing, std::function<void()> ended);
  bool has_ended() const { return status_ >= 0; }
  // Once it has ended: its own.
  ExitCode code() const { return static_cast<ExitCode>(status_); }

 private:
  EventLoop& loop_;
  Console& console_;
  const std::string command_;
  std::unique_ptr<TemporaryFolder> folder_;  // of the playlist, which holds the token
  int status_ = -1;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>();  // the player may outlive this
};

}  // namespace firn::app
