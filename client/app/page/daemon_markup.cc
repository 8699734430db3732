#include "client/app/page/daemon_markup.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/console/content_words.h"
#include "client/app/console/json_members.h"
#include "proto/web/markup.h"

namespace firn::app {
namespace {

using web::html;

std::string watch_row(const Json& one) {
  const std::string folder = html(text_of(one, "folder"));
  return fmt::format(
      "<tr><th scope=\"row\">{0}</th><td>{1}</td><td><form method=\"post\" action=\"/do\">"
      "<input type=\"hidden\" name=\"folder\" value=\"{2}\"><button name=\"action\" "
      "value=\"unwatch\" aria-label=\"Stop watching {0}\">Stop watching</button></form></td></tr>",
      folder, html(text_of(one, "output")), web::html_value(text_of(one, "folder")));
}

}  // namespace

std::string fact_list(const NamedFacts& facts) {
  std::string list;
  for (const auto& [name, markup] : facts)
    if (!markup.empty()) list += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, markup);
  return "<dl class=\"facts\">" + list + "</dl>";
}

std::string limits_now(const Json& daemon) {
  const auto count = [&daemon](const char* name) {
    const double value = number_of(daemon, name);
    return value > 0 ? fmt::format("{}", value) : std::string();
  };
  return fact_list({{"Up", limit_words(daemon, "up_limit")},
                    {"Down", limit_words(daemon, "down_limit")},
                    {"By the schedule", html(text_of(daemon, "schedule"))},
                    {"Downloads at a time", count("max_downloads")},
                    {"Seeds at a time", count("max_seeds")}});
}

std::string limits_form(const std::optional<Refusal>& refused) {
  const FormMarkup form(refused, "limit");
  return fmt::format(
      "<details id=\"change-limits\"{}><summary>Change limits</summary>"
      "<form method=\"post\" action=\"/do\" class=\"add\">{}{}{}"
      "<p>What is left empty stays. <code>default</code>: as the configuration says.</p>"
      "<button name=\"action\" value=\"limit\">Set limits</button></form></details>",
      form.open(), form.alert(), form.field("up", "Up, bytes a second", "1M, none or default"),
      form.field("down", "Down, bytes a second", "1M, none or default"));
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

std::string watch_form(const Json& daemon, const std::optional<Refusal>& refused) {
  const std::string downloads = text_of(daemon, "download_dir");
  const FormMarkup form(refused, "watch");
  return fmt::format(
      "<details id=\"watch\"{}><summary>Watch a folder</summary>"
      "<form method=\"post\" action=\"/do\" class=\"add\">{}{}{}"
      "<button name=\"action\" value=\"watch\">Watch</button></form></details>",
      form.open(), form.alert(),
      form.field("folder", "Folder for .firn and .link files", "/srv/inbox", true),
      form.field("output", "Contents go to", html(downloads.empty() ? "/srv/downloads" : downloads),
                 downloads.empty()));
}

}  // namespace firn::app
