#include "client/app/page/file_markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/app/console/content_words.h"
#include "client/app/console/quantities.h"
#include "client/app/stream/media_type.h"
#include "proto/web/markup.h"

namespace firn::app {
namespace {

using web::html;

std::string size_of(const FileEntry& entry) {
  if (entry.kind == FileEntry::Kind::kFolder) return "empty folder";
  if (entry.kind == FileEntry::Kind::kLink) return "link";
  return format_bytes(entry.bytes);
}

std::string play_link(const std::string& play, std::size_t number, const std::string& path) {
  return fmt::format(" <a href=\"{}/{}\" aria-label=\"Play {}\">play</a>", play, number,
                     html(path));
}

}  // namespace

std::string progress_bar(double share, const char* label) {
  return fmt::format("<progress max=\"100\" value=\"{:.1f}\" aria-label=\"{}\"></progress>",
                     100 * share, label);
}

ListedFiles list_files(const Info& info, const content::FileChoice& choice) {
  const std::size_t listed = std::min(info.files.size(), ListedFiles::kListedMax);
  auto chosen = content::chosen_files(info, choice);
  std::vector<bool> flags =
      chosen.ok() ? *std::move(chosen) : std::vector<bool>(info.files.size(), true);
  flags.resize(listed);
  return {{info.files.begin(), info.files.begin() + static_cast<std::ptrdiff_t>(listed)},
          info.files.size(),
          info.shape.generation_bytes(),
          std::move(flags)};
}

std::string file_boxes(const ListedFiles& files, const std::string& name, const FormMarkup& form) {
  const bool comes_back = !form.alert().empty();
  std::string boxes;
  for (std::size_t i = 0; i < files.entries.size(); ++i) {
    const FileEntry& entry = files.entries[i];
    const std::string field = "file" + std::to_string(i + 1);
    const bool ticked = comes_back ? form.ticked(field.c_str()) : files.chosen[i];
    fmt::format_to(std::back_inserter(boxes),
                   "<label><input type=\"checkbox\" name=\"{}\" value=\"on\"{}> {} ({})</label>",
                   field, ticked ? " checked" : "", html(entry.path.empty() ? name : entry.path),
                   size_of(entry));
  }
  return boxes;
}

double share_of(const FileEntry& file, std::uint64_t generation_bytes,
                const core::SwarmView& view) {
  if (file.bytes == 0 || generation_bytes == 0) return 1;
  const std::uint64_t end = file.offset + file.bytes;
  const auto first = static_cast<std::uint32_t>(file.offset / generation_bytes);
  auto filling =
      std::ranges::lower_bound(view.filling, first, {}, &core::FillingGeneration::number);
  double here = 0;
  for (std::uint32_t g = first; g < view.verified.size() && g * generation_bytes < end; ++g) {
    while (filling != view.filling.end() && filling->number < g) ++filling;
    const bool fills = filling != view.filling.end() && filling->number == g && filling->blocks > 0;
    const double part = view.verified.contains(g) ? 1.0
                        : fills ? static_cast<double>(filling->rank) / filling->blocks
                                : 0.0;
    const std::uint64_t begins = std::max(file.offset, g * generation_bytes);
    const std::uint64_t ends = std::min(end, (g + std::uint64_t{1}) * generation_bytes);
    here += part * static_cast<double>(ends - begins);
  }
  return here / static_cast<double>(file.bytes);
}

std::string files_section(const ListedFiles& files, const std::string& name,
                          const core::SwarmView* view, bool complete, const std::string& play) {
  if (files.entries.empty()) return "<p>The files are listed once the manifest is known.</p>";
  const bool known = view != nullptr || complete;
  std::string rows;
  bool plays = false;
  for (std::size_t i = 0; i < files.entries.size(); ++i) {
    const FileEntry& entry = files.entries[i];
    const double share = view == nullptr ? 1 : share_of(entry, files.generation_bytes, *view);
    const std::string& path = entry.path.empty() ? name : entry.path;
    const bool is_played = !play.empty() && files.chosen[i] &&
                           entry.kind == FileEntry::Kind::kFile &&
                           media_type(path).kind == MediaType::Kind::kPlayed;
    plays |= is_played;
    fmt::format_to(std::back_inserter(rows),
                   "<tr><th scope=\"row\">{}{}</th><td class=\"n\">{}</td><td class=\"b\">{}</td>"
                   "<td class=\"n\">{}</td></tr>",
                   html(path), is_played ? play_link(play, i + 1, path) : "", size_of(entry),
                   known ? progress_bar(share, "Progress") : "",
                   known ? percent_words(share) : "-");
  }
  std::string more;
  if (plays)
    more = fmt::format("<p><a href=\"{}\">Playlist</a> for a player of this machine</p>", play);
  if (files.count > files.entries.size())
    more += fmt::format("<p>The first {} of {}.</p>", files.entries.size(), files.count);
  return more + web::scrolled("Files",
                              "<table class=\"cards files\"><thead><tr><th scope=\"col\">Name</th>"
                              "<th scope=\"col\" class=\"n\">Size</th><th scope=\"col\" "
                              "colspan=\"2\">Progress</th></tr></thead><tbody>" +
                                  rows + "</tbody></table>");
}

}  // namespace firn::app
