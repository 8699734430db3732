#include "client/app/commands/transfer/playing.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "proto/program/output_file.h"

namespace firn::app {
namespace {

const FileKind kPlaylist{"playlist", [](std::string_view) { return false; }};

}  // namespace

Status Player::begin(const Playing& playing, std::function<void()> ended) {
  const std::string& url =
      playing.entries.size() == 1 ? playing.entries.front().url : playing.playlist;
  if (command_.empty()) {
    const std::size_t query = url.find('?');
    console_.event({{"event", "play"},
                    {"url", url.substr(0, query)},
                    {"token", url.substr(url.find('=', query) + 1)}});
    if (!console_.json()) console_.print(url);
    return Done{};
  }
  auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.error();
  folder_ = *std::move(folder);
  const std::string path = folder_->path() + "/playlist.m3u8";
  const auto written =
      OutputFile(path, kPlaylist).write_new_private(playlist_text(playing.entries));
  if (!written.ok()) return written.error();
  // The shell takes the name from its environment: nothing of ours is read as its language.
  return loop_.run_shell(
      command_ + " \"$FIRN_PLAYLIST\"", {{"FIRN_PLAYLIST", path}},
      [this, alive = std::weak_ptr(alive_), ended = std::move(ended)](int status) {
        if (alive.expired()) return;
        status_ = status;
        if (status != 0) console_.warning(fmt::format("'{}' ended with {}", command_, status));
        ended();
      });
}

}  // namespace firn::app
