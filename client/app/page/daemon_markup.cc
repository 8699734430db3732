#include "client/app/page/daemon_markup.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/console/quantities.h"
#include "client/app/page/json_members.h"
#include "proto/web/markup.h"

namespace firn::app {
namespace {

using web::html;

std::string fact(const char* name, const std::string& markup) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, markup);
}

std::string watch_row(const Json& one) {
  const std::string folder = html(text_of(one, "folder"));
  return fmt::format(
      "<tr><th scope=\"row\">{0}</th><td>{1}</td><td><form method=\"post\" action=\"/do\">"
      "<input type=\"hidden\" name=\"folder\" value=\"{2}\"><button name=\"action\" "
      "value=\"unwatch\" aria-label=\"Stop watching {0}\">Stop watching</button></form></td></tr>",
      folder, html(text_of(one, "output")), web::html_value(text_of(one, "folder")));
}

}  // namespace

std::string rate_words(const Json& of, const char* name) {
  const double rate = number_of(of, name);
  return rate > 0 ? format_rate(rate) : "none";
}

std::string labelled_field(const char* name, const char* label, const char* example,
                           bool required) {
  return fmt::format(
      "<label for=\"set-{0}\">{1}</label><input id=\"set-{0}\" name=\"{0}\" placeholder=\"{2}\" "
      "autocomplete=\"off\"{3}>",
      name, label, example, required ? " required" : "");
}

std::string limits_now(const Json& daemon) {
  std::string list = "<dl class=\"facts\">";
  list += fact("Up", rate_words(daemon, "up_limit"));
  list += fact("Down", rate_words(daemon, "down_limit"));
  if (const std::string rule = text_of(daemon, "schedule"); !rule.empty())
    list += fact("By the schedule", html(rule));
  if (const double active = number_of(daemon, "max_downloads"); active > 0)
    list += fact("Downloads at a time", fmt::format("{}", active));
  if (const double active = number_of(daemon, "max_seeds"); active > 0)
    list += fact("Seeds at a time", fmt::format("{}", active));
  return list + "</dl>";
}

std::string limits_form() {
  return "<details id=\"change-limits\"><summary>Change limits</summary>"
         "<form method=\"post\" action=\"/do\" class=\"add\">" +
         labelled_field("up", "Up, bytes a second", "1M, none or default") +
         labelled_field("down", "Down, bytes a second", "1M, none or default") +
         "<p>What is left empty stays. <code>default</code>: as the configuration says.</p>"
         "<button name=\"action\" value=\"limit\">Set limits</button></form></details>";
}

std::string watched_folders(const Json& daemon) {
  const auto folders = daemon.find("folders");
  if (folders == daemon.end() || folders->empty()) return "<p>No folder is watched.</p>";
  std::string rows;
  for (const Json& one : *folders) rows += watch_row(one);
  return web::scrolled("Watched folders",
                       "<table><thead><tr><th scope=\"col\">Folder</th><th scope=\"col\">"
                       "Contents go to</th><th scope=\"col\">Change</th></tr></thead><tbody>" +
                           rows + "</tbody></table>");
}

std::string watch_form(const Json& daemon) {
  const std::string downloads = text_of(daemon, "download_dir");
  return "<details id=\"watch\"><summary>Watch a folder</summary><form method=\"post\" "
         "action=\"/do\" class=\"add\">" +
         labelled_field("folder", "Folder for .firn and .link files", "/srv/inbox", true) +
         labelled_field("output", "Contents go to",
                        html(downloads.empty() ? "/srv/downloads" : downloads).c_str(),
                        downloads.empty()) +
         "<button name=\"action\" value=\"watch\">Watch</button></form></details>";
}

}  // namespace firn::app
