#include "client/app/page/settings_markup.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/console/quantities.h"
#include "client/app/page/json_members.h"
#include "proto/web/markup.h"

namespace firn::app {
namespace {

using web::html;

std::string form(const std::string& id, const char* style, const std::string& fields) {
  return fmt::format(
      "<form method=\"post\" action=\"/do\" class=\"{}\"><input type=\"hidden\" name=\"content\" "
      "value=\"{}\"><input type=\"hidden\" name=\"alone\" value=\"on\">{}</form>",
      style, html(id), fields);
}

// One button for each choice.
std::string choices(const char* action, const char* label, const char* name,
                    std::initializer_list<std::pair<const char*, const char*>> values) {
  std::string buttons = fmt::format(
      "<span>{}</span><input type=\"hidden\" name=\"action\" value=\"{}\">", label, action);
  for (const auto& [value, word] : values) {
    buttons += fmt::format("<button name=\"{}\" value=\"{}\" aria-label=\"{} {}\">{}</button>",
                           name, value, label, word, word);
  }
  return buttons;
}

std::string sent_words(const Json& details) {
  const double sent = number_of(details, "uploaded"), bytes = number_of(details, "bytes");
  if (sent <= 0) return "";
  std::string words = format_bytes(static_cast<std::uint64_t>(sent));
  if (bytes > 0) words += fmt::format(", {:.2f} times its size", sent / bytes);
  return words;
}

std::string goal_words(const Json& details) {
  std::string words;
  if (const double ratio = number_of(details, "seed_ratio"); ratio > 0)
    words = fmt::format("ratio {}", ratio);
  if (const double seconds = number_of(details, "seed_time"); seconds > 0)
    words += (words.empty() ? "" : " or ") + format_seconds(seconds);
  return words;
}

}  // namespace

NamedFacts settings_facts(const Json& details) {
  NamedFacts facts;
  if (number_of(details, "up_limit") > 0 || number_of(details, "down_limit") > 0) {
    facts.emplace_back("Limits", fmt::format("up {}, down {}", rate_words(details, "up_limit"),
                                             rate_words(details, "down_limit")));
  }
  facts.emplace_back("Sent", sent_words(details));
  facts.emplace_back("Seeds until", goal_words(details));
  facts.emplace_back("Moves to", html(text_of(details, "moving_to")));
  const auto saved = details.find("saved");
  if (saved != details.end() && *saved == false)
    facts.emplace_back("Not saved yet", "the last change; a crash now would lose it");
  return facts;
}

std::string settings_forms(const Json& details, const std::optional<Refusal>& refused) {
  const std::string id = text_of(details, "content_id");
  const FormMarkup limit(refused, "limit"), move(refused, "move");
  const std::string limits =
      limit.alert() + limit.field("up", "Up, bytes a second", "1M, none or default") +
      limit.field("down", "Down, bytes a second", "1M, none or default") +
      limit.field("seed_ratio", "Seed until this ratio", "1.5, none or default") +
      limit.field("seed_time", "Seed for", "12h, none or default") +
      "<p>What is left empty stays. <code>default</code>: as for the daemon.</p>"
      "<button name=\"action\" value=\"limit\">Set limits</button>";
  const std::string folder = move.alert() +
                             move.field("folder", "Move files to", "/srv/archive", true) +
                             move.field("as", "under another name", "as now") +
                             "<button name=\"action\" value=\"move\">Move</button>";
  return fmt::format(
             "<details id=\"settings\"{}{}><summary>Change limits, place in line, folder</summary>",
             limit.open(), move.open()) +
         form(id, "add", limits) +
         form(id, "ways",
              choices("priority", "Priority", "priority",
                      {{"high", "high"}, {"normal", "normal"}, {"low", "low"}})) +
         form(id, "ways",
              choices("queue", "In line", "to",
                      {{"first", "first"}, {"up", "up"}, {"down", "down"}, {"last", "last"}})) +
         form(id, "add", folder) + "</details>";
}

std::string removal_forms(const Json& details) {
  const std::string id = text_of(details, "content_id"), name = html(text_of(details, "name")),
                    folder = html(text_of(details, "folder"));
  return "<details id=\"removal\" class=\"danger\"><summary>Remove</summary>" +
         form(id, "ways",
              fmt::format("<p>Firn forgets {}, and no longer loads or shares it. The files in {} "
                          "stay.</p><button name=\"action\" value=\"remove\">Forget, keep files"
                          "</button>",
                          name, folder)) +
         form(
             id, "ways",
             fmt::format("<label><input type=\"checkbox\" required> Yes, delete the files of {} in "
                         "{} as well. Nobody can bring them back.</label><button name=\"action\" "
                         "value=\"remove_data\">Forget and delete files</button>",
                         name, folder)) +
         "</details>";
}

}  // namespace firn::app
