#include "client/app/commands/playing.h"

#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX's

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "proto/program/output_file.h"

namespace firn::app {
namespace {

const FileKind kPlaylist{"playlist", [](std::string_view) { return false; }};

}  // namespace

Result<std::unique_ptr<PlaylistFile>> PlaylistFile::write(const std::string& text) {
  std::error_code fault;
  const auto temporary = std::filesystem::temp_directory_path(fault);
  std::string folder = (fault ? "/tmp" : temporary.string()) + "/firn-play-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return error_from_errno("make " + folder, errno);
  std::unique_ptr<PlaylistFile> file(new PlaylistFile(folder));
  const auto written = OutputFile(file->path(), kPlaylist).write_new_private(text);
  if (!written.ok()) return written.error();
  return file;
}

PlaylistFile::~PlaylistFile() {
  std::error_code ignored;
  std::filesystem::remove(path(), ignored);
  std::filesystem::remove(folder_, ignored);
}

Status Player::begin(const Playing& playing, std::function<void()> ended) {
  const std::string& url =
      playing.entries.size() == 1 ? playing.entries.front().url : playing.playlist;
  if (command_.empty()) {
    console_.event({{"event", "play"}, {"url", url}});
    if (!console_.json()) console_.print(url);
    return Done{};
  }
  auto file = PlaylistFile::write(playlist_text(playing.entries));
  if (!file.ok()) return file.error();
  file_ = *std::move(file);
  // The shell takes the name from its environment: nothing of ours is read as its language.
  return loop_.run_shell(
      command_ + " \"$FIRN_PLAYLIST\"", {{"FIRN_PLAYLIST", file_->path()}},
      [this, alive = std::weak_ptr(alive_), ended = std::move(ended)](int status) {
        if (alive.expired()) return;
        status_ = status;
        if (status != 0) console_.warning(fmt::format("'{}' ended with {}", command_, status));
        ended();
      });
}

}  // namespace firn::app
