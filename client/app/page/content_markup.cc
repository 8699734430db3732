#include "client/app/page/content_markup.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/app/console/content_words.h"
#include "client/app/console/json_members.h"
#include "client/app/console/quantities.h"
#include "client/app/page/daemon_markup.h"
#include "client/app/page/file_markup.h"
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

constexpr const char* kWayBack =
    "<header><p class=\"mark\"><a href=\"/\">Firn: all contents</a></p></header><main id=\"main\">";

// `alone`: on the page of this content.
std::string actions_of(const Json& content, bool alone) {
  const std::string state = text_of(content, "state");
  const bool rests = state == "paused" || state == "finished" || state == "failed";
  const char* const label = rests ? "Resume" : "Pause";
  return fmt::format(
      "<form method=\"post\" action=\"/do\"><input type=\"hidden\" name=\"content\" "
      "value=\"{}\">{}<button{} name=\"action\" value=\"{}\" aria-label=\"{} "
      "{}\">{}</button></form>",
      html(text_of(content, "content_id")),
      alone ? "<input type=\"hidden\" name=\"alone\" value=\"on\">" : "",
      alone ? " class=\"primary\"" : "", rests ? "resume" : "pause", label,
      html(text_of(content, "name")), label);
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
        "<td class=\"b\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td>{}</tr>",
        html(id), html(id), html(text_of(content, "name")),
        content.contains("failure") ? "bad" : "", html(state_words(content)),
        progress_bar(number_of(content, "share"), "Progress"), share_words(content),
        eta_words(content), size_words(content), format_rate(number_of(content, "down_rate")),
        format_rate(number_of(content, "up_rate")), number_of(content, "peers"),
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
             "<table class=\"cards contents\"><thead><tr><th scope=\"col\">Name</th>"
             "<th scope=\"col\">State</th><th scope=\"col\" colspan=\"2\">Progress</th>"
             "<th scope=\"col\" class=\"n\">ETA</th><th scope=\"col\" class=\"n\">Size</th>"
             "<th scope=\"col\" class=\"n\">Down</th><th scope=\"col\" class=\"n\">Up</th>"
             "<th scope=\"col\" class=\"n\">Peers</th>" +
                 std::string(view.may_change ? "<th scope=\"col\">Change</th>" : "") +
                 "</tr></thead><tbody>" + contents_rows(contents, view) + "</tbody></table>");
}

// Open where there is nothing else to do. The folder is required where the daemon knows none.
std::string add_form(const ContentFacts& facts, const std::optional<Refusal>& refused) {
  const std::string downloads = text_of(facts.daemon, "download_dir");
  const FormMarkup form(refused, "add");
  return fmt::format(
      "<details id=\"add\"{}><summary>Add a content</summary>"
      "<form method=\"post\" action=\"/add\" enctype=\"multipart/form-data\" class=\"add\">"
      "{}{}<label for=\"manifest\">or manifest (.firn)</label><input id=\"manifest\" "
      "name=\"manifest\" type=\"file\" accept=\".firn\">{}{}"
      "<label><input type=\"checkbox\" name=\"serve\" value=\"on\"{}> its files stand there already"
      "</label><button class=\"primary\">Add</button></form></details>",
      facts.details.empty() ? " open" : form.open(), form.alert(),
      form.field("source", "Link", "firn:..."),
      form.field("folder", "Folder", html(downloads.empty() ? "/srv/downloads" : downloads),
                 downloads.empty()),
      form.field("as", "Name there", "as its publisher named it"),
      form.ticked("serve") ? " checked" : "");
}

std::string region(const std::pair<std::string, std::string>& one) {
  return "<div id=\"" + one.first + "\">" + one.second + "</div>";
}

NamedFacts html_of(NamedWords words) {
  for (auto& [name, text] : words) text = html(text);
  return words;
}

// What is asked first: how far it is, and what is wrong.
std::string facts_of(const Json& details) {
  std::string markup = fact_list(html_of(progress_words(details))) +
                       progress_bar(number_of(details, "share"), "Progress");
  for (const auto& [name, text] : trouble_words(details))
    if (!text.empty()) markup += fmt::format("<p class=\"bad\">{}: {}</p>", name, html(text));
  return markup;
}

// To be marked and copied by hand as well.
std::string link_of(const Json& details) {
  const std::string link = text_of(details, "link");
  if (link.empty()) return "";
  return "<label for=\"link\">Link for others</label><input id=\"link\" readonly value=\"" +
         html(link) + "\"><button id=\"copy\" type=\"button\" class=\"scripted\">Copy</button>";
}

// Empty until something has come in this run.
std::string arrivals_section(const Json& details) {
  const NamedFacts list = html_of(arrival_words(details));
  return list.empty() ? "" : "<h2>Where the bytes came from</h2>" + fact_list(list);
}

std::string more_facts(const ContentFacts& facts) {
  const Json& details = facts.details;
  NamedFacts list;
  if (facts.swarm && facts.swarm->generation_size > 0)
    list.emplace_back(
        "Generations",
        fmt::format("{} verified of {}, of {} blocks each", facts.swarm->verified.count(),
                    facts.swarm->verified.size(), facts.swarm->generation_size));
  for (auto& one : html_of(setting_words(details))) list.push_back(std::move(one));
  list.emplace_back("Content id", "<code>" + html(text_of(details, "content_id")) + "</code>");
  return fact_list(list);
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
               refusal_alert(view.refused) + region(regions[1]) +
               (view.may_change ? add_form(facts, view.refused) : "") + "<h2>Rates</h2>" +
               region(regions[0]);
  if (view.may_change) {
    frame.body += "<h2>Limits of all contents</h2>" + region(regions[2]) +
                  limits_form(view.refused) + "<h2>Watched folders</h2>" + region(regions[3]) +
                  watch_form(facts.daemon, view.refused);
  }
  frame.body += "</main>";
  return web::whole_page(frame);
}

Regions content_regions(const ContentFacts& facts, const RankMap& map,
                        const RateHistory::Samples& rates, const PageView& view) {
  const core::SwarmView none;
  const core::SwarmView& swarm = facts.swarm ? *facts.swarm : none;
  const std::string name = text_of(facts.details, "name");
  const bool whole = number_of(facts.details, "share") == 1 && part_words(facts.details).empty();
  const std::string play =
      view.may_change && facts.swarm ? "/play/" + text_of(facts.details, "content_id") : "";
  Regions regions{
      {"facts", facts_of(facts.details)},
      {"share", link_of(facts.details)},
      {"files", files_section(facts.files, name, facts.swarm ? &swarm : nullptr, whole, play)},
      {"arrivals", arrivals_section(facts.details)},
      {"peers", peers_section(swarm.peers, view.page, view.path)},
      {"rates", rate_chart(rates, name)},
      {"map-table", facts.swarm ? map_table(map, swarm) : ""},
      {"bans", bans_section(swarm.bans)},
      {"more", more_facts(facts)}};
  for (auto& row : map_rows(map, view.path)) regions.push_back(std::move(row));
  if (view.may_change) regions.emplace_back("actions", actions_of(facts.details, true));
  return regions;
}

std::string content_page(const ContentFacts& facts, const RankMap& map,
                         const RateHistory::Samples& rates, const PageView& view) {
  const Regions regions = content_regions(facts, map, rates, view);
  const auto shown = [&regions](const char* id) {
    const auto found = std::ranges::find(regions, id, &Regions::value_type::first);
    return found == regions.end() ? "" : region(*found);
  };
  const std::string name = text_of(facts.details, "name"),
                    id = text_of(facts.details, "content_id");
  web::Frame frame;
  frame.title = name + " - Firn";
  frame.events = fmt::format("/events?content={}&from={}&count={}&peers={}", percent_encode(id),
                             map.range.first, map.range.count, view.page);
  frame.body = kWayBack;
  frame.body += "<h1>" + html(name) + "</h1>" + refusal_alert(view.refused) + shown("facts") +
                shown("actions") + shown("share") + "<h2>Files</h2>" + shown("files") +
                (view.may_change ? files_form(facts.details, facts.files, view.refused) : "") +
                shown("arrivals") + "<h2>Peers</h2>" + shown("peers") + shown("bans") +
                "<h2>Rates</h2>" + shown("rates") + "<h2 id=\"map\">Rank of every generation</h2>" +
                map_section(map, view.path, id) +
                "<details id=\"map-details\"><summary>Generations as a table</summary>" +
                shown("map-table") + "</details><h2>Limits and folder</h2>" + shown("more");
  if (view.may_change)
    frame.body += settings_forms(facts.details, view.refused) + removal_forms(facts.details);
  frame.body += "</main>";
  return web::whole_page(frame);
}

std::string failure_page(const std::string& title, const std::string& text) {
  web::Frame frame;
  frame.title = title;
  frame.body = kWayBack;
  frame.body += "<h1>" + html(title) + "</h1><p role=\"alert\">" + html(text) + "</p></main>";
  return web::whole_page(frame);
}

}  // namespace firn::app
