#include "client/app/page/settings_markup.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/console/content_words.h"
#include "client/app/console/json_members.h"
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

}  // namespace

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

std::string files_form(const Json& details, const ListedFiles& files,
                       const std::optional<Refusal>& refused) {
  const bool whole = number_of(details, "share") == 1 && part_words(details).empty();
  if (text_of(details, "kind") != "download" || files.entries.empty() || whole) return "";
  const FormMarkup choice(refused, "files");
  const bool many = files.count > files.entries.size();
  const std::string fields =
      many ? choice.field("take", "Names or folders to fetch (empty: all but the skipped)",
                          "*.mkv or extras/") +
                 choice.field("skip", "Names or folders to skip", "*.txt or extras/")
           : file_boxes(files, text_of(details, "name"), choice);
  return fmt::format("<details id=\"choose\"{}><summary>Choose files</summary>", choice.open()) +
         form(text_of(details, "content_id"), "add",
              fmt::format("{}{}<button name=\"action\" value=\"files\">Fetch {} files</button>",
                          choice.alert(), fields, many ? "these" : "the ticked")) +
         "</details>";
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
