// What `firn play` starts: a player with a playlist of streams.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/app/console/console.h"
#include "client/app/console/exit_codes.h"
#include "client/app/runtime/event_loop.h"
#include "client/app/stream/playlist.h"
#include "proto/base/result.h"

namespace firn::app {

// A playlist that its user alone can read: it holds the token. Gone with this object.
class PlaylistFile {
 public:
  // Errors: as errno says.
  static Result<std::unique_ptr<PlaylistFile>> write(const std::string& text);
  ~PlaylistFile();
  PlaylistFile(const PlaylistFile&) = delete;
  PlaylistFile& operator=(const PlaylistFile&) = delete;
  std::string path() const { return folder_ + "/playlist.m3u8"; }

 private:
  explicit PlaylistFile(std::string folder) : folder_(std::move(folder)) {}
  const std::string folder_;
};

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

  // Once. `ended` is called when the player has ended. Errors: as PlaylistFile::write() and
  // EventLoop::run_shell().
  Status begin(const Playing& playing, std::function<void()> ended);
  bool has_ended() const { return status_ >= 0; }
  // Once it has ended: its own.
  ExitCode code() const { return static_cast<ExitCode>(status_); }

 private:
  EventLoop& loop_;
  Console& console_;
  const std::string command_;
  std::unique_ptr<PlaylistFile> file_;
  int status_ = -1;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>();  // the player may outlive this
};

}  // namespace firn::app
