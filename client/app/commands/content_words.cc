#include "client/app/commands/content_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "client/app/commands/asking.h"
#include "client/app/console/quantities.h"

namespace firn::app {
namespace {

constexpr const char* kListRow = "{:<9} {:<12} {:>7} {:>10} {:>7} {:>12} {:>12} {:>6}  {}";

std::string part_done(const Json& content) {
  if (cell(content, "share") == "-") return "-";
  const double share = number(content, "share");
  // Never whole before it is.
  return share < 1 ? fmt::format("{:.1f}%", std::min(99.9, 100 * share)) : "100%";
}

std::string size_or_dash(const Json& content, const char* name) {
  return cell(content, name) == "-"
             ? "-"
             : format_bytes(static_cast<std::uint64_t>(number(content, name)));
}

std::string time_left(const Json& content) {
  return cell(content, "eta_seconds") == "-" ? "-" : format_seconds(number(content, "eta_seconds"));
}

std::string state_of(const Json& content) {
  std::string words = cell(content, "state");
  if (const double place = number(content, "queue_position"); place > 0)
    words += fmt::format(", {}. in line", place);
  if (const std::string priority = cell(content, "priority"); priority != "normal")
    words += ", priority " + priority;
  return words;
}

std::string progress_of(const Json& content) {
  const std::string left = time_left(content);
  return part_done(content) + (left == "-" ? "" : ", ETA " + left);
}

std::string limit_of(const Json& content, const char* name) {
  return number(content, name) > 0 ? format_rate(number(content, name)) : "none";
}

std::string limits_of(const Json& content) {
  if (number(content, "up_limit") <= 0 && number(content, "down_limit") <= 0) return "";
  return "down " + limit_of(content, "down_limit") + ", up " + limit_of(content, "up_limit");
}

std::string sent_of(const Json& content) {
  const double sent = number(content, "uploaded"), bytes = number(content, "bytes");
  if (sent <= 0) return "";
  return size_or_dash(content, "uploaded") +
         (bytes > 0 ? fmt::format(", {:.2f} times its size", sent / bytes) : "");
}

std::string goals_of(const Json& content) {
  std::string words;
  if (const double ratio = number(content, "seed_ratio"); ratio > 0)
    words = fmt::format("ratio {}", ratio);
  if (const double seconds = number(content, "seed_time"); seconds > 0)
    words += (words.empty() ? "" : " or ") + format_seconds(seconds);
  return words;
}

// In local time.
std::string time_of(const Json& content, const char* name) {
  const auto seconds = static_cast<std::time_t>(number(content, name));
  std::tm local{};
  char text[32];
  if (seconds <= 0 || localtime_r(&seconds, &local) == nullptr) return "";
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local));
}

std::string listed(const Json& content, const char* name) {
  std::string words;
  if (const auto found = content.find(name); found != content.end() && found->is_array())
    for (const Json& one : *found)
      if (one.is_string()) words += (words.empty() ? "" : ", ") + one.get<std::string>();
  return words;
}

std::string announced_of(const Json& content) {
  const std::string announced = cell(content, "announced");
  if (listed(content, "trackers").empty() || announced == "-") return "";
  return announced == "true" ? "" : " (none of them takes it now)";
}

}  // namespace

std::string list_head() {
  return fmt::format(kListRow, "id", "state", "done", "size", "ETA", "down", "up", "peers", "name");
}

std::string list_row(const Json& content) {
  return fmt::format(kListRow, cell(content, "content_id").substr(0, 8), cell(content, "state"),
                     part_done(content), size_or_dash(content, "bytes"), time_left(content),
                     format_rate(number(content, "down_rate")),
                     format_rate(number(content, "up_rate")), cell(content, "peers"),
                     cell(content, "name"));
}

std::vector<std::string> shown_lines(const Json& content) {
  std::vector<std::string> lines;
  const auto add = [&lines](const char* name, const std::string& text) {
    if (!text.empty() && text != "-") lines.push_back(fmt::format("{:<15} {}", name, text));
  };
  add("Name", cell(content, "name"));
  add("State", state_of(content));
  add("Failure", cell(content, "failure"));
  add("Waits for", cell(content, "waits_for"));
  add("Size", size_or_dash(content, "bytes"));
  add("Complete", progress_of(content));
  add("Down", format_rate(number(content, "down_rate")));
  add("Up", format_rate(number(content, "up_rate")));
  add("Peers", cell(content, "peers"));
  add("Folder", cell(content, "folder"));
  add("Moves to", cell(content, "moving_to"));
  add("Moves from", cell(content, "moving_from"));
  add("Was not moved", cell(content, "move_failure"));
  add("Stays", cell(content, "seeding"));
  add("Seeds until", goals_of(content));
  add("Sent", sent_of(content));
  add("Limits", limits_of(content));
  if (cell(content, "saved") == "false")
    add("Not saved yet", "the last change; a crash now would lose it");
  add("Added", time_of(content, "added_at"));
  add("Finished", time_of(content, "finished_at"));
  add("Trackers", listed(content, "trackers") + announced_of(content));
  add("Addresses", listed(content, "addresses"));
  add("Content id", cell(content, "content_id"));
  add("Link for others", cell(content, "link"));
  return lines;
}

}  // namespace firn::app
