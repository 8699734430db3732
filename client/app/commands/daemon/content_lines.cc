#include "client/app/commands/daemon/content_lines.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/commands/asking.h"
#include "client/app/console/content_words.h"
#include "client/app/console/json_members.h"
#include "client/app/console/quantities.h"
#include "proto/base/plain_text.h"

namespace firn::app {
namespace {

constexpr const char* kListRow = "{:<9} {:<12} {:>7} {:>10} {:>7} {:>12} {:>12} {:>6}  {}";

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
  std::string note = part_words(content);
  if (const std::string origins = origin_words(content); !origins.empty())
    note += (note.empty() ? "" : ", ") + origins;
  return fmt::format(kListRow, cell(content, "content_id").substr(0, 8), cell(content, "state"),
                     share_words(content), size_words(content), eta_words(content),
                     format_rate(number_of(content, "down_rate")),
                     format_rate(number_of(content, "up_rate")), cell(content, "peers"),
                     cell(content, "name") + (note.empty() ? "" : " (" + note + ")"));
}

std::vector<std::string> shown_lines(const Json& content) {
  std::vector<std::string> lines;
  const auto add = [&lines](const char* name, const std::string& text) {
    if (!text.empty() && text != "-")
      lines.push_back(fmt::format("{:<19} {}", name, escaped(text)));
  };
  add("Name", text_of(content, "name"));
  for (const auto& words : {progress_words(content), arrival_words(content), trouble_words(content),
                            setting_words(content)})
    for (const auto& [name, text] : words) add(name, text);
  add("Trackers", listed(content, "trackers") + announced_of(content));
  add("Addresses", listed(content, "addresses"));
  add("Content id", text_of(content, "content_id"));
  add("Link for others", text_of(content, "link"));
  return lines;
}

std::string left_behind(const Json& content) {
  const double bytes = number_of(content, "share") * number_of(content, "bytes");
  if (cell(content, "complete") == "true" || bytes < 1) return "";
  const std::string folder = cell(content, "folder"), named = cell(content, "as");
  return fmt::format(
      "about {} that were downloaded stay in {}/.firn/{} and {}/{}; firn remove --delete-data "
      "would "
      "have deleted them",
      format_bytes(static_cast<std::uint64_t>(bytes)), folder, cell(content, "content_id"), folder,
      named == "-" ? cell(content, "name") : named);
}

}  // namespace firn::app
