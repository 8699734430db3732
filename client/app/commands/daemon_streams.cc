#include "client/app/commands/daemon_streams.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "client/app/stream/media_type.h"
#include "client/app/stream/playlist.h"
#include "client/app/stream/stream_address.h"

namespace firn::app {

Status DaemonStreams::open() {
  if (server_ != nullptr) return Done{};
  const auto listen_at = [this](const std::string& listen) {
    return open_stream_server(listen, contents_, console_);
  };
  auto opened = listen_at(
      !listen_.empty() ? listen_
                       : "localhost:" + std::to_string(folder_.port(DataFolder::kStreamPort)));
  if (!opened.ok() && listen_.empty()) opened = listen_at("localhost:0");
  if (!opened.ok()) return opened.error();
  server_ = *std::move(opened);
  const std::string& url = server_->url();
  const int port = std::stoi(url.substr(url.rfind(':') + 1));
  // If that fails, streams have another port next time.
  (void)folder_.keep_port(DataFolder::kStreamPort, static_cast<std::uint16_t>(port));
  return Done{};
}

Result<Json> DaemonStreams::tell(const ContentId& content) {
  const auto reading = contents_.find(content);
  const auto manifest = reading ? reading->manifest() : nullptr;
  if (manifest == nullptr)
    return Error{ErrorCode::kBusy, "play " + content.short_text(),
                 "the content is not open: it is paused, waits for its turn, or its manifest has "
                 "not come yet"};
  if (const Status opened = open(); !opened.ok()) return opened.error();
  const StreamAddress at{server_->url(), content, contents_.token(content)};
  const Info& info = manifest->info;
  const auto played = played_files(info, [&](std::size_t i) { return reading->chosen(i); });
  const std::set<std::size_t> in_playlist(played.begin(), played.end());
  Json files = Json::array();
  for (std::size_t i = 0; i < info.files.size(); ++i) {
    if (info.files[i].kind != FileEntry::Kind::kFile || !reading->chosen(i)) continue;
    const std::string& path = shown_path(info, info.files[i]);
    files.push_back({{"number", i + 1},
                     {"path", path},
                     {"type", media_type(path).name},
                     {"played", in_playlist.contains(i)},
                     {"url", at.file(path)}});
  }
  return Json{{"content_id", content.text()},
              {"name", info.name},
              {"playlist", at.playlist()},
              {"files", std::move(files)}};
}

}  // namespace firn::app
