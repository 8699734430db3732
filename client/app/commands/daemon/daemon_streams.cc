#include "client/app/commands/daemon/daemon_streams.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "client/app/stream/media_type.h"
#include "client/app/stream/playlist.h"
#include "client/app/stream/stream_address.h"

namespace firn::app {
namespace {

constexpr std::size_t kListedMax = 1000;  // the main thread makes the list

}  // namespace

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

Result<DaemonStreams::Open> DaemonStreams::open(const ContentId& content) {
  auto reading = contents_.find(content);
  auto manifest = reading ? reading->manifest() : nullptr;
  if (manifest == nullptr)
    return Error{ErrorCode::kBusy, "play " + content.short_text(),
                 "the content is not open: it is paused, waits for its turn, or its manifest has "
                 "not come yet"};
  if (const Status opened = open(); !opened.ok()) return opened.error();
  return Open{std::move(reading), std::move(manifest)};
}

Result<std::string> DaemonStreams::url(const ContentId& content, const std::string& number,
                                       const std::string& host) {
  const auto opened = open(content);
  if (!opened.ok()) return opened.error();
  const auto server = server_->url_for(host);
  if (!server.ok()) return server.error();
  const StreamAddress at{*server, content, contents_.token(content)};
  if (number.empty()) return at.playlist();
  std::size_t file = 0;
  const char* const end = number.data() + number.size();
  const auto [read, error] = std::from_chars(number.data(), end, file);
  if (error != std::errc() || read != end || file == 0 || !opened->reading->chosen(file - 1))
    return Error{ErrorCode::kNotFound, "play " + content.short_text(), "there is no such file"};
  return at.file(opened->manifest->info, file - 1);
}

Result<Json> DaemonStreams::tell(const ContentId& content) {
  const auto opened = open(content);
  if (!opened.ok()) return opened.error();
  const ContentReading& reading = *opened->reading;
  const StreamAddress at{server_->url(), content, contents_.token(content)};
  const Info& info = opened->manifest->info;
  const auto played = played_files(info, [&](std::size_t i) { return reading.chosen(i); });
  const std::set<std::size_t> in_playlist(played.begin(), played.end());
  Json files = Json::array();
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < info.files.size(); ++i) {
    if (info.files[i].kind != FileEntry::Kind::kFile || !reading.chosen(i)) continue;
    if (files.size() == kListedMax) {
      ++left_out;
      continue;
    }
    const std::string& path = shown_path(info, info.files[i]);
    files.push_back({{"number", i + 1},
                     {"path", path},
                     {"type", media_type(path).name},
                     {"played", in_playlist.contains(i)},
                     {"url", at.file(info, i)}});
  }
  return Json{{"content_id", content.text()},
              {"name", info.name},
              {"playlist", at.playlist()},
              {"files", std::move(files)},
              {"left_out", left_out}};
}

}  // namespace firn::app
