#include "client/app/commands/daemon/daemon_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace firn::app {

DaemonPage::DaemonPage(PageOptions options, const DataFolder& folder, PeerDriver& driver,
                       DaemonMethods& methods, Console& console)
    : options_(std::move(options)),
      folder_(folder),
      driver_(driver),
      methods_(methods),
      console_(console) {
  options_.folder = folder.path();
  if (options_.token_file.empty()) options_.token_file = folder.path() + "/http-token";
}

Status DaemonPage::open() {
  if (options_.listen.empty() || server_ != nullptr) return Done{};
  auto opened = open_page_server(options_, driver_, &methods_, console_);
  if (!opened.ok()) return opened.error();
  server_ = *std::move(opened);
  return Done{};
}

Result<Json> DaemonPage::tell() {
  if (options_.listen.empty()) {
    options_.listen = fmt::format("localhost:{}", folder_.port(DataFolder::kPagePort));
    if (!open().ok()) options_.listen = "localhost:0";
  }
  if (const Status opened = open(); !opened.ok()) return opened.error();
  const std::string& url = server_->url();
  const int port = std::stoi(url.substr(url.rfind(':') + 1));
  // If that fails, the page has another port next time.
  (void)folder_.keep_port(DataFolder::kPagePort, static_cast<std::uint16_t>(port));
  return Json{{"url", server_->url()}, {"token", server_->token()}};
}

}  // namespace firn::app
