#include "tracker/app/status_markup.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "proto/web/frame.h"
#include "proto/web/line_chart.h"
#include "proto/web/markup.h"

namespace firn::tracker {
namespace {

// "2d03h", "3h07m", "12s": the two largest units.
std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86'400) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d{:02}h", whole / 86'400, whole / 3600 % 24);
}

std::string per_second(double rate) {
  return rate < 10 ? fmt::format("{:.1f}/s", rate) : fmt::format("{:.0f}/s", rate);
}

const char* redis_text(const RedisState& redis) {
  if (!redis.used) return "none";
  return redis.connected ? "shared" : "lost";
}

std::string facts_of(const StatusView& view) {
  const Snapshot& now = view.now;
  std::string list = "<dl class=\"facts\">";
  const auto add = [&list](const char* name, const std::string& text) {
    list += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, web::html(text));
  };
  add("Swarms", std::to_string(now.swarm_count));
  add("Peers", std::to_string(now.complete_count + now.incomplete_count));
  add("Complete peers", std::to_string(now.complete_count));
  add("Connections", std::to_string(now.connection_count));
  add("Announces", std::to_string(now.announce_count));
  add("Requests refused", std::to_string(now.refusal_count()));
  if (now.redis.used) add("Redis", redis_text(now.redis));
  add("Runs for", duration_text(static_cast<double>(view.running.count())));
  return list + "</dl>";
}

std::string chart_of(const StatusView& view) {
  web::LineChart chart;
  chart.label = "Announces a second";
  chart.values_max = view.rates_max;
  chart.seconds_between = 1;
  chart.top = 1;
  chart.lines = {{"Announces", "down", view.rates}};
  chart.worded = per_second;
  chart.seconds = duration_text;
  return web::line_chart(chart);
}

std::string swarms_of(const Snapshot& now) {
  if (now.largest.empty()) return "<p>No peer has announced itself.</p>";
  std::string rows;
  for (const Snapshot::Line& line : now.largest)
    rows += fmt::format(
        "<tr><th scope=\"row\">{} <code>{}</code></th><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
        web::html(line.name), line.content.text(), line.complete, line.incomplete,
        line.percent ? fmt::format("{}%", *line.percent) : "-");
  std::string note = fmt::format(
      "<p>These have: what incomplete peers have on average, as each of them says with its "
      "announces, every {}.</p>",
      duration_text(static_cast<double>(now.interval.count())));
  if (now.swarm_count > now.largest.size())
    note += fmt::format("<p>The {} largest of {}.</p>", now.largest.size(), now.swarm_count);
  return note + web::scrolled("Swarms",
                              "<table><thead><tr><th scope=\"col\">Content</th><th scope=\"col\" "
                              "class=\"n\">Complete peers</th><th scope=\"col\" class=\"n\">"
                              "Incomplete peers</th><th scope=\"col\" class=\"n\">These have</th>"
                              "</tr></thead><tbody>" +
                                  rows + "</tbody></table>");
}

// "12 of 20"; where there is no bound "12".
std::string of_bound(std::uint64_t use, std::uint64_t bound) {
  return bound == 0 ? std::to_string(use) : fmt::format("{} of {}", use, bound);
}

std::string publishers_of(const Snapshot& now) {
  if (now.publishers.empty()) return "";
  std::string rows;
  for (const Snapshot::PublisherLine& line : now.publishers)
    rows += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td></tr>",
        line.key.text(), of_bound(line.use.contents, line.limits.contents),
        of_bound(line.use.manifest_bytes, line.limits.manifest_bytes),
        of_bound(line.use.peers, line.limits.peers));
  return "<h2>Publishers</h2>" +
         web::scrolled("Publishers",
                       "<table><thead><tr><th scope=\"col\">Publisher</th><th scope=\"col\" "
                       "class=\"n\">Contents</th><th scope=\"col\" class=\"n\">Bytes of manifests"
                       "</th><th scope=\"col\" class=\"n\">Peers</th></tr></thead><tbody>" +
                           rows + "</tbody></table>");
}

}  // namespace

web::Regions status_regions(const StatusView& view) {
  return {{"facts", facts_of(view)},
          {"rates", chart_of(view)},
          {"swarms", swarms_of(view.now)},
          {"publishers", publishers_of(view.now)}};
}

std::string status_page(const StatusView& view) {
  const web::Regions regions = status_regions(view);
  const auto shown = [&regions](std::size_t i) {
    return fmt::format("<div id=\"{}\">{}</div>", regions[i].first, regions[i].second);
  };
  web::Frame frame;
  frame.title = "Firn tracker";
  frame.events = "/events";
  frame.body = "<header><p class=\"mark\">Firn</p></header><main id=\"main\"><h1>Tracker</h1>" +
               shown(0) + "<h2>Swarms</h2>" + shown(2) + shown(3) + "<h2>Announces a second</h2>" +
               shown(1) + "</main>";
  return web::whole_page(frame);
}

std::string status_json(const StatusView& view) {
  const Snapshot& now = view.now;
  nlohmann::ordered_json json = {
      {"running_seconds", view.running.count()},
      {"swarms", now.swarm_count},
      {"peers", now.complete_count + now.incomplete_count},
      {"complete", now.complete_count},
      {"connections", now.connection_count},
      {"announces", now.announce_count},
      {"announces_per_second", view.rates.empty() ? 0 : view.rates.back()},
      {"refusals", now.refusal_count()},
      {"redis", redis_text(now.redis)},
      {"largest", nlohmann::ordered_json::array()}};
  for (const Snapshot::Line& line : now.largest)
    json["largest"].push_back(
        {{"content_id", line.content.text()},
         {"name", line.name},
         {"complete", line.complete},
         {"incomplete", line.incomplete},
         {"percent", line.percent ? nlohmann::ordered_json(*line.percent) : nullptr}});
  json["publishers"] = nlohmann::ordered_json::array();
  for (const Snapshot::PublisherLine& line : now.publishers)
    json["publishers"].push_back({{"key", line.key.text()},
                                  {"contents", line.use.contents},
                                  {"contents_max", line.limits.contents},
                                  {"manifest_bytes", line.use.manifest_bytes},
                                  {"manifest_bytes_max", line.limits.manifest_bytes},
                                  {"peers", line.use.peers},
                                  {"peers_max", line.limits.peers}});
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace firn::tracker
