#include "client/app/page/content_markup.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/app/console/quantities.h"
#include "client/app/page/daemon_markup.h"
#include "client/app/page/json_members.h"
#include "client/app/page/map_markup.h"
#include "client/app/page/peer_markup.h"
#include "client/app/page/rate_chart.h"
#include "client/app/page/settings_markup.h"
#include "proto/base/percent.h"
#include "proto/web/frame.h"
#include "proto/web/markup.h"

namespace firn::app {
namespace {

using web::html;

std::string size_of(const Json& content) {
  const double bytes = number_of(content, "bytes");
  return bytes > 0 ? format_bytes(static_cast<std::uint64_t>(bytes)) : "-";
}

std::string progress_of(const Json& content) {
  const double share = number_of(content, "share");
  // Never whole before it is.
  const double percent = share < 1 ? std::min(99.9, 100 * share) : 100;
  return fmt::format(
      "<svg class=\"bar\" width=\"100\" height=\"8\" role=\"img\" aria-label=\"{:.1f} percent\">"
      "<rect width=\"100\" height=\"8\" class=\"m\"/><rect width=\"{:.1f}\" height=\"8\" "
      "class=\"v\"/></svg> {:.1f}%",
      percent, percent, percent);
}

std::string button(const char* action, const std::string& label, const std::string& name) {
  return fmt::format("<button name=\"action\" value=\"{}\" aria-label=\"{} {}\">{}</button>",
                     action, label, html(name), label);
}

// `alone`: on the page of this content, which also offers what cannot be undone.
std::string actions_of(const Json& content, bool alone) {
  const std::string id = text_of(content, "content_id"), name = text_of(content, "name"),
                    state = text_of(content, "state");
  const bool rests = state == "paused" || state == "finished" || state == "failed";
  std::string form =
      "<form method=\"post\" action=\"/do\" class=\"actions\"><input type=\"hidden\" "
      "name=\"content\" value=\"" +
      html(id) + "\">";
  form += rests ? button("resume", "Resume", name) : button("pause", "Pause", name);
  if (!alone) return form + "</form>";
  return form +
         "<input type=\"hidden\" name=\"alone\" value=\"on\"><details "
         "id=\"removal\"><summary>Remove</summary>" +
         button("remove", "Forget, keep files", name) +
         button("remove_data", "Forget and delete files", name) + "</details></form>";
}

// With its place, where it waits for one.
std::string state_words(const Json& content) {
  std::string words = text_of(content, "state");
  if (const double place = number_of(content, "queue_position"); place > 0)
    words += fmt::format(", {}. in line", place);
  if (const std::string priority = text_of(content, "priority");
      !priority.empty() && priority != "normal")
    words += ", " + priority;
  return html(words);
}

std::string contents_rows(const Json& contents, const PageView& view) {
  std::string rows;
  const std::size_t begin = view.page * kContentsOnPage;
  for (std::size_t i = begin; i < std::min(contents.size(), begin + kContentsOnPage); ++i) {
    const Json& content = contents[i];
    const std::string id = text_of(content, "content_id");
    rows += fmt::format(
        "<tr id=\"c-{}\"><th scope=\"row\"><a href=\"/content/{}\">{}</a></th><td "
        "class=\"{}\">{}</td>"
        "<td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td>{}</tr>",
        html(id), html(id), html(text_of(content, "name")),
        content.contains("failure") ? "bad" : "", state_words(content), size_of(content),
        progress_of(content), number_of(content, "peers"),
        format_rate(number_of(content, "down_rate")), format_rate(number_of(content, "up_rate")),
        view.may_change ? "<td>" + actions_of(content, false) + "</td>" : "");
  }
  return rows;
}

std::string contents_table(const Json& contents, const PageView& view) {
  if (contents.empty())
    return view.may_change ? "<p>There is no content yet: add one by its link, or share a folder "
                             "with <code>firn share --daemon FOLDER</code>.</p>"
                           : "<p>There is no content yet.</p>";
  std::string pages;
  for (std::size_t at = 0; contents.size() > kContentsOnPage && at < contents.size();
       at += kContentsOnPage)
    pages += fmt::format("<a href=\"/?page={}\"{}>{}</a> ", at / kContentsOnPage,
                         at / kContentsOnPage == view.page ? " aria-current=\"page\"" : "", at + 1);
  if (!pages.empty())
    pages = "<nav aria-label=\"Pages of contents\" class=\"pages\">" + pages + "</nav>";
  return pages +
         web::scrolled(
             "Contents",
             "<table><thead><tr><th scope=\"col\">Name</th><th scope=\"col\">State</th>"
             "<th scope=\"col\" class=\"n\">Size</th><th scope=\"col\">Complete</th>"
             "<th scope=\"col\" class=\"n\">Peers</th><th scope=\"col\" class=\"n\">Down</th>"
             "<th scope=\"col\" class=\"n\">Up</th>" +
                 std::string(view.may_change ? "<th scope=\"col\">Change</th>" : "") +
                 "</tr></thead><tbody>" + contents_rows(contents, view) + "</tbody></table>");
}

// Where a content goes whose folder is not said; required where the daemon knows none.
std::string folder_field(const Json& daemon) {
  const std::string downloads = text_of(daemon, "download_dir");
  return fmt::format(
      "<label for=\"folder\">Folder</label><input id=\"folder\" name=\"folder\" "
      "placeholder=\"{}\"{}>",
      html(downloads.empty() ? "/srv/downloads" : downloads), downloads.empty() ? " required" : "");
}

// Open where there is nothing else to do.
std::string add_form(const ContentFacts& facts) {
  return fmt::format(
      "<details id=\"add\"{}><summary>Add a content</summary>"
      "<form method=\"post\" action=\"/add\" enctype=\"multipart/form-data\" class=\"add\">"
      "<label for=\"source\">Link</label><input id=\"source\" name=\"source\" "
      "placeholder=\"firn:...\" autocomplete=\"off\">"
      "<label for=\"manifest\">or manifest (.firn)</label><input id=\"manifest\" name=\"manifest\" "
      "type=\"file\" accept=\".firn\">{}"
      "<label for=\"as\">Name there</label><input id=\"as\" name=\"as\" "
      "placeholder=\"as its publisher named it\" autocomplete=\"off\">"
      "<label><input type=\"checkbox\" name=\"serve\" value=\"on\"> its files stand there already"
      "</label><button>Add</button></form></details>",
      facts.details.empty() ? " open" : "", folder_field(facts.daemon));
}

std::string region(const std::pair<std::string, std::string>& one) {
  return "<div id=\"" + one.first + "\">" + one.second + "</div>";
}

std::string facts_of(const ContentFacts& facts) {
  const Json& details = facts.details;
  std::string list = "<dl class=\"facts\">";
  const auto add = [&list](const char* name, const std::string& markup) {
    if (!markup.empty()) list += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, markup);
  };
  add("State", state_words(details));
  add("Complete", progress_of(details));
  add("Size", size_of(details));
  add("Peers", fmt::format("{}", number_of(details, "peers")));
  if (facts.swarm && facts.swarm->generation_size > 0)
    add("Generations",
        fmt::format("{} verified of {}, of {} blocks each", facts.swarm->verified.count(),
                    facts.swarm->verified.size(), facts.swarm->generation_size));
  add("Folder", html(text_of(details, "folder")));
  add("Stays", html(text_of(details, "seeding")));
  for (const auto& [name, markup] : settings_facts(details)) add(name, markup);
  add("Waits for", html(text_of(details, "waits_for")));
  add("Failure", html(text_of(details, "failure")));
  const auto add_code = [&list](const char* name, const std::string& text) {
    if (!text.empty())
      list += fmt::format("<div class=\"whole\"><dt>{}</dt><dd><code>{}</code></dd></div>", name,
                          html(text));
  };
  add_code("Content id", text_of(details, "content_id"));
  add_code("Link for others", text_of(details, "link"));
  return list + "</dl>";
}

}  // namespace

Regions contents_regions(const ContentFacts& facts, const RateHistory::Samples& rates,
                         const PageView& view) {
  Regions regions{{"rates", rate_chart(rates, "All contents")},
                  {"contents", contents_table(facts.details, view)}};
  if (!view.may_change) return regions;
  regions.emplace_back("limits", limits_now(facts.daemon));
  regions.emplace_back("watches", watched_folders(facts.daemon));
  return regions;
}

std::string contents_page(const ContentFacts& facts, const RateHistory::Samples& rates,
                          const PageView& view) {
  const Regions regions = contents_regions(facts, rates, view);
  web::Frame frame;
  frame.title = fmt::format("Firn: {} contents", facts.details.size());
  frame.events = fmt::format("/events?page={}", view.page);
  frame.body = "<header><p class=\"mark\">Firn</p></header><main id=\"main\"><h1>Contents</h1>" +
               region(regions[1]) + (view.may_change ? add_form(facts) : "") + "<h2>Rates</h2>" +
               region(regions[0]);
  if (view.may_change) {
    frame.body += "<h2>Limits of all contents</h2>" + region(regions[2]) + limits_form() +
                  "<h2>Watched folders</h2>" + region(regions[3]) + watch_form(facts.daemon);
  }
  frame.body += "</main>";
  return web::whole_page(frame);
}

Regions content_regions(const ContentFacts& facts, const RankMap& map,
                        const RateHistory::Samples& rates, const PageView& view) {
  const std::vector<core::PeerStatus> none;
  Regions regions{{"facts", facts_of(facts)},
                  {"rates", rate_chart(rates, text_of(facts.details, "name"))},
                  {"map-table", facts.swarm ? map_table(map, *facts.swarm) : ""}};
  for (auto& row : map_rows(map, view.path)) regions.push_back(std::move(row));
  if (view.may_change) regions.emplace_back("actions", actions_of(facts.details, true));
  regions.emplace_back(
      "peers", peers_section(facts.swarm ? facts.swarm->peers : none, view.page, view.path));
  regions.emplace_back("bans",
                       bans_section(facts.swarm ? facts.swarm->bans : std::vector<core::Ban>()));
  return regions;
}

std::string content_page(const ContentFacts& facts, const RankMap& map,
                         const RateHistory::Samples& rates, const PageView& view) {
  const Regions regions = content_regions(facts, map, rates, view);
  const auto shown = [&regions](const char* id) {
    const auto found = std::ranges::find(regions, id, &Regions::value_type::first);
    return found == regions.end() ? "" : region(*found);
  };
  const std::string name = text_of(facts.details, "name");
  web::Frame frame;
  frame.title = name + " - Firn";
  frame.events = fmt::format("/events?content={}&from={}&count={}&peers={}",
                             percent_encode(text_of(facts.details, "content_id")), map.range.first,
                             map.range.count, view.page);
  frame.body =
      "<header><p class=\"mark\"><a href=\"/\">Firn</a></p></header><main id=\"main\"><h1>" +
      html(name) + "</h1>" + shown("facts") + shown("actions") +
      (view.may_change ? settings_forms(facts.details) : "") + "<h2>Rates</h2>" + shown("rates") +
      "<h2 id=\"map\">Rank of every generation</h2>" +
      map_section(map, view.path, text_of(facts.details, "content_id")) +
      "<details id=\"map-details\"><summary>Generations as a table</summary>" + shown("map-table") +
      "</details><h2>Peers</h2>" + shown("peers") + "<h2>Bans</h2>" + shown("bans") + "</main>";
  return web::whole_page(frame);
}

std::string failure_page(const std::string& title, const std::string& text) {
  web::Frame frame;
  frame.title = title;
  frame.body =
      "<header><p class=\"mark\"><a href=\"/\">Firn</a></p></header><main id=\"main\"><h1>" +
      html(title) + "</h1><p role=\"alert\">" + html(text) + "</p></main>";
  return web::whole_page(frame);
}

}  // namespace firn::app
