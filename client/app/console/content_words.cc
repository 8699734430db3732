#include "client/app/console/content_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "client/app/console/json_members.h"
#include "client/app/console/quantities.h"

namespace firn::app {
namespace {

std::string bytes_words(double bytes) {
  return format_bytes(static_cast<std::uint64_t>(bytes));
}

std::string sent_words(const Json& content) {
  const double sent = number_of(content, "uploaded");
  const double bytes = number_of(content, "chosen_bytes", number_of(content, "bytes"));
  if (sent <= 0) return "";
  return bytes_words(sent) +
         (bytes > 0 ? fmt::format(", {:.2f} times its size", sent / bytes) : "");
}

std::string goal_words(const Json& content) {
  std::string words;
  if (const double ratio = number_of(content, "seed_ratio"); ratio > 0)
    words = fmt::format("ratio {}", ratio);
  if (const double seconds = number_of(content, "seed_time"); seconds > 0)
    words += (words.empty() ? "" : " or ") + format_seconds(seconds);
  return words;
}

// In local time.
std::string time_words(const Json& content, const char* name) {
  const auto seconds = static_cast<std::time_t>(number_of(content, name));
  std::tm local{};
  char text[32];
  if (seconds <= 0 || localtime_r(&seconds, &local) == nullptr) return "";
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local));
}

std::string unsaved_words(const Json& content) {
  const auto saved = content.find("saved");
  const bool unsaved = saved != content.end() && *saved == false;
  return unsaved ? "the last change; a crash now would lose it" : "";
}

}  // namespace

std::string percent_words(double share) {
  return share < 1 ? fmt::format("{:.1f}%", std::min(99.9, 100 * share)) : "100%";
}

std::string share_words(const Json& content) {
  const double share = number_of(content, "share", -1);
  return share < 0 ? "-" : percent_words(share);
}

std::string eta_words(const Json& content) {
  const double seconds = number_of(content, "eta_seconds", -1);
  return seconds < 0 ? "-" : format_seconds(seconds);
}

std::string size_words(const Json& content) {
  const double bytes = number_of(content, "chosen_bytes", number_of(content, "bytes", -1));
  return bytes < 0 ? "-" : bytes_words(bytes);
}

std::string part_words(const Json& content) {
  const double all = number_of(content, "all_files");
  return all > 0 ? fmt::format("{} of {} files", number_of(content, "chosen_files"), all) : "";
}

std::string origin_words(const Json& content) {
  const double bytes = number_of(content, "bytes_from_origins");
  return bytes > 0 ? bytes_words(bytes) + " from origins" : "";
}

std::string state_words(const Json& content) {
  std::string words = text_of(content, "state");
  if (const double place = number_of(content, "queue_position"); place > 0)
    words += fmt::format(", {}. in line", place);
  if (const std::string priority = text_of(content, "priority");
      !priority.empty() && priority != "normal")
    words += ", " + priority + " priority";
  return words;
}

std::string limit_words(const Json& of, const char* name) {
  const double rate = number_of(of, name);
  return rate > 0 ? format_rate(rate) : "none";
}

std::string limits_words(const Json& of) {
  return "up " + limit_words(of, "up_limit") + ", down " + limit_words(of, "down_limit");
}

bool has_limits(const Json& of) {
  return number_of(of, "up_limit") > 0 || number_of(of, "down_limit") > 0;
}

NamedWords progress_words(const Json& content) {
  return {{"State", state_words(content)},
          {"ETA", eta_words(content)},
          {"Complete", share_words(content)},
          {"Size", size_words(content)},
          {"Down", format_rate(number_of(content, "down_rate"))},
          {"Up", format_rate(number_of(content, "up_rate"))},
          {"Peers", fmt::format("{}", number_of(content, "peers"))}};
}

NamedWords arrival_words(const Json& content) {
  NamedWords words;
  for (const Json& origin : content.value("from_origins", Json::array())) {
    const std::string trouble = text_of(origin, "trouble");
    words.emplace_back("From origin", bytes_words(number_of(origin, "bytes")) + ", " +
                                          text_of(origin, "url") +
                                          (trouble.empty() ? "" : " (" + trouble + ")"));
  }
  for (const auto& [name, member] : {std::pair("From peers", "bytes_from_peers"),
                                     {"Redundant", "bytes_redundant"},
                                     {"Refused", "bytes_refused"}})
    if (const double bytes = number_of(content, member); bytes > 0)
      words.emplace_back(name, bytes_words(bytes));
  return words;
}

NamedWords trouble_words(const Json& content) {
  return {{"Failure", text_of(content, "failure")},
          {"Waits for", text_of(content, "waits_for")},
          {"Was not moved", text_of(content, "move_failure")}};
}

NamedWords setting_words(const Json& content) {
  return {{"Chosen", part_words(content)},
          {"Folder", text_of(content, "folder")},
          {"Moves to", text_of(content, "moving_to")},
          {"Moves from", text_of(content, "moving_from")},
          {"Seeds when complete", text_of(content, "seeding")},
          {"Seeds until", goal_words(content)},
          {"Sent", sent_words(content)},
          {"Limits", has_limits(content) ? limits_words(content) : ""},
          {"Not saved yet", unsaved_words(content)},
          {"Added", time_words(content, "added_at")},
          {"Finished", time_words(content, "finished_at")}};
}

}  // namespace firn::app
