#include "client/app/commands/daemon/share_daemon.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/app/commands/options/options.h"
#include "client/app/commands/options/origin_options.h"
#include "proto/content/link.h"
#include "proto/program/output_file.h"

namespace firn::app {
namespace {

using Clock = std::chrono::steady_clock;

// How long the link may wait for trackers to say their ids.
constexpr std::chrono::seconds kLinkWait{2};
constexpr core::TimeUs kLookInterval = 50 * core::kMillisecond;

// A file beside the daemon's socket, where both may read and write; removed with this.
class HandedOver {
 public:
  explicit HandedOver(const std::string& path) : path_(path) {}
  ~HandedOver() { ::unlink(path_.c_str()); }
  HandedOver(const HandedOver&) = delete;
  HandedOver& operator=(const HandedOver&) = delete;

 private:
  const std::string path_;
};

std::vector<std::string> texts(const Json& answer, const char* name) {
  std::vector<std::string> found;
  if (const auto list = answer.find(name); list != answer.end() && list->is_array())
    for (const Json& one : *list)
      if (one.is_string()) found.push_back(one.get<std::string>());
  return found;
}

Result<Json> add(const AskOptions& daemon, const MadeContent& made) {
  const ContentId& id = made.manifest.id;
  const std::string socket = absolute(socket_of(daemon));
  const std::string path = std::filesystem::path(socket).parent_path().string() + "/firn-" +
                           std::to_string(::getpid()) + "-" + id.short_text() + ".firn";
  const auto written = OutputFile(path, kManifestFile).write_new_private(made.manifest.file_bytes);
  if (!written.ok()) return written.error();
  if (!*written) return Error{ErrorCode::kExists, "write " + path, "it is there already"};
  const HandedOver handed(path);
  Json params = {
      {"source", path}, {"folder", absolute(made.folder)}, {"serve", true}, {"trust", true}};
  if (made.secret) params["link"] = to_text(Link{id, {}, {}, {}, made.secret});
  return ask(daemon, "add", params);
}

// The content once its trackers have been heard, or the time is over.
Result<Json> announced(const AskOptions& daemon, const ContentId& id) {
  Result<Json> shown = Json();
  const auto due = Clock::now() + kLinkWait;
  look_again(kLookInterval, [&] {
    shown = ask(daemon, "show", {{"content", id.text()}});
    return shown.ok() && cell(*shown, "announced") == "-" && Clock::now() < due;
  });
  return shown;
}

}  // namespace

Result<std::string> share_with_daemon(const AskOptions& daemon, const MadeContent& made,
                                      const std::optional<PublicKey>& publisher) {
  if (const auto added = add(daemon, made); !added.ok() && added.error().code != ErrorCode::kExists)
    return added.error();
  const auto shown = announced(daemon, made.manifest.id);
  if (!shown.ok()) return shown.error();
  const auto trackers = parse_addresses(texts(*shown, "trackers"));
  if (!trackers.ok()) return trackers.error();
  const auto peers = parse_addresses(texts(*shown, "addresses"));
  if (!peers.ok()) return peers.error();
  return to_text(Link{made.manifest.id, *trackers, *peers, publisher, made.secret,
                      origins_for_link(made.manifest.info, made.manifest.origins)});
}

}  // namespace firn::app
