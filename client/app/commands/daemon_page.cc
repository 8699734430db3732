#include "client/app/commands/daemon_page.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace firn::app {

DaemonPage::DaemonPage(PageOptions options, const std::string& data, PeerDriver& driver,
                       DaemonMethods& methods, Console& console)
    : options_(std::move(options)), driver_(driver), methods_(methods), console_(console) {
  options_.folder = data;
  if (options_.token_file.empty()) options_.token_file = data + "/http-token";
}

Status DaemonPage::open() {
  if (options_.listen.empty() || server_ != nullptr) return Done{};
  auto opened = open_page_server(options_, driver_, &methods_, console_);
  if (!opened.ok()) return opened.error();
  server_ = *std::move(opened);
  return Done{};
}

Result<Json> DaemonPage::tell() {
  if (options_.listen.empty()) options_.listen = "localhost:0";
  if (const Status opened = open(); !opened.ok()) return opened.error();
  return Json{{"url", server_->url()}, {"token", server_->token()}};
}

}  // namespace firn::app
