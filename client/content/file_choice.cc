#include "client/content/file_choice.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "client/content/division.h"
#include "client/content/path_glob.h"
#include "proto/base/characters.h"
#include "proto/base/limits.h"
#include "proto/base/plain_text.h"

namespace firn::content {
namespace {

constexpr std::size_t kRulesMax = 1024;
constexpr std::size_t kNumbersBytesMax = 64 << 10;
constexpr std::size_t kNearNames = 3;
constexpr std::size_t kNearCells = 50'000'000;  // of PathGlob::nearest: a tenth of a second

using RuleKind = FileRule::Kind;

// "skip" of "skip:extras/".
constexpr std::array<std::pair<RuleKind, std::string_view>, 3> kKindNames = {
    {{RuleKind::kFile, "file"}, {RuleKind::kSkip, "skip"}, {RuleKind::kSelect, "select"}}};

Error refused_rule(const FileRule& rule, std::string why) {
  constexpr std::size_t kShown = 200;  // bytes
  const std::string_view text = std::string_view(rule.text).substr(0, kShown);
  return {ErrorCode::kBadInput,
          (rule.kind == RuleKind::kSkip ? "skip '" : "choose '") + escaped(text) +
              (text.size() < rule.text.size() ? "...'" : "'"),
          std::move(why)};
}

struct Numbers {
  std::uint32_t first, last;
};

// Nothing: the text does not begin with a number of a file. Takes it off.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || number == 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return number;
}

// Nothing: the text is no list of numbers.
std::optional<std::vector<Numbers>> parse_numbers(std::string_view text) {
  std::vector<Numbers> list;
  while (true) {
    const auto first = take_number(text);
    auto last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text);
    }
    if (!first || !last || *first > *last) return std::nullopt;
    list.push_back({*first, *last});
    if (text.empty()) return list;
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
  }
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = first_character(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

const std::string& path_of(const Info& info, const FileEntry& file) {
  return info.single_file ? info.name : file.path;
}

bool fits(const Info& info, const PathGlob& glob, const FileEntry& file) {
  return glob.fits(path_of(info, file), file.kind == FileEntry::Kind::kFolder);
}

// The names that are nearest to one of the patterns, the best first: a third of the pattern's
// letters may differ. Of a large content only the first names are looked at.
std::vector<std::string> near_names(const Info& info, const std::vector<PathGlob>& globs) {
  std::vector<std::pair<std::size_t, std::string>> near;
  std::size_t cells = 0;
  for (const FileEntry& file : info.files) {
    const std::string& path = path_of(info, file);
    for (const PathGlob& glob : globs) {
      cells += path.size() * glob.size();
      if (cells > kNearCells) break;
      const auto [changes, bytes] = glob.nearest(path, file.kind == FileEntry::Kind::kFolder);
      const std::size_t letters = glob.letters();
      if (changes >= letters || changes > std::max<std::size_t>(1, letters / 3)) continue;
      std::pair found(changes, path.substr(0, bytes) + (glob.folders_only() ? "/" : ""));
      const auto place = std::ranges::lower_bound(near, found);
      if (std::ranges::any_of(near, [&](const auto& it) { return it.second == found.second; }))
        continue;
      near.insert(place, std::move(found));
      if (near.size() > kNearNames) near.pop_back();
    }
  }
  std::vector<std::string> names;
  for (auto& [changes, name] : near) names.push_back(std::move(name));
  return names;
}

// "no file or folder fits; did you mean 'a', 'b' or 'c'?"
std::string nothing_fits(const Info& info, const std::vector<PathGlob>& globs) {
  std::string text = globs.front().folders_only() ? "no folder fits" : "no file or folder fits";
  const std::vector<std::string> names = near_names(info, globs);
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0                 ? "; did you mean '"
             : i + 1 < names.size() ? ", '"
                                    : " or '") +
            escaped(names[i]) + "'";
  return text + (names.empty() ? "; firn info --files shows what there is" : "?");
}

Status apply_pattern(const Info& info, const FileRule& rule, std::vector<bool>& chosen) {
  const std::vector<PathGlob> globs = {PathGlob(rule.text),
                                       PathGlob(rule.text, PathGlob::Syntax::kNone)};
  for (const PathGlob& glob : globs) {
    bool any = false;
    for (std::size_t i = 0; i < info.files.size(); ++i) {
      if (!fits(info, glob, info.files[i])) continue;
      any = true;
      chosen[i] = rule.kind == RuleKind::kFile;
    }
    if (any) return Done{};
  }
  return refused_rule(rule, nothing_fits(info, globs));
}

Status apply_numbers(const FileRule& rule, std::vector<bool>& chosen) {
  const auto list = parse_numbers(rule.text);
  for (const Numbers& numbers : *list) {
    if (numbers.last > chosen.size())
      return refused_rule(rule, "there is no file " + std::to_string(numbers.last) +
                                    "; the last has number " + std::to_string(chosen.size()));
    std::fill(chosen.begin() + (numbers.first - 1), chosen.begin() + numbers.last, true);
  }
  return Done{};
}

}  // namespace

Status check_file_rule(const FileRule& rule) {
  if (rule.kind == RuleKind::kSelect) {
    if (rule.text.size() > kNumbersBytesMax) return refused_rule(rule, "the list is too long");
    if (parse_numbers(rule.text)) return Done{};
    return refused_rule(rule, "write numbers of files, from 1, and ranges of them: 1,3-5");
  }
  if (rule.text.find_first_not_of('/') == std::string::npos)
    return refused_rule(rule, "a pattern has to name something");
  if (rule.text.size() > limits::kPathBytesMax)
    return refused_rule(rule, "the pattern is too long");
  if (!is_utf8(rule.text)) return refused_rule(rule, "no name fits, as this is no UTF-8");
  return Done{};
}

Result<FileChoice> FileChoice::from_texts(const std::vector<std::string>& texts) {
  FileChoice choice;
  for (const std::string& text : texts) {
    const std::size_t colon = text.find(':');
    const auto* const kind = std::ranges::find(kKindNames, std::string_view(text).substr(0, colon),
                                               &std::pair<RuleKind, std::string_view>::second);
    if (colon == std::string::npos || kind == kKindNames.end())
      return refused_rule({RuleKind::kFile, text},
                          "a rule begins with 'file:', 'skip:' or 'select:'");
    if (const Status added = choice.add({kind->first, text.substr(colon + 1)}); !added.ok())
      return added.error();
  }
  return choice;
}

Status FileChoice::add(const FileRule& rule) {
  if (const Status fine = check_file_rule(rule); !fine.ok()) return fine;
  if (rules_.size() == kRulesMax)
    return refused_rule(rule, "more than " + std::to_string(kRulesMax) + " rules");
  rules_.push_back(rule);
  return Done{};
}

std::vector<std::string> FileChoice::texts() const {
  std::vector<std::string> texts;
  for (const FileRule& rule : rules_) {
    const auto* const kind =
        std::ranges::find(kKindNames, rule.kind, &std::pair<RuleKind, std::string_view>::first);
    texts.push_back(std::string(kind->second) + ":" + rule.text);
  }
  return texts;
}

Result<std::vector<bool>> chosen_files(const Info& info, const FileChoice& choice) {
  const bool others = choice.empty() || choice.rules().front().kind == RuleKind::kSkip;
  std::vector<bool> chosen(info.files.size(), others);
  for (const FileRule& rule : choice.rules()) {
    const Status applied = rule.kind == RuleKind::kSelect ? apply_numbers(rule, chosen)
                                                          : apply_pattern(info, rule, chosen);
    if (!applied.ok()) return applied.error();
  }
  if (!choice.empty() && std::ranges::find(chosen, true) == chosen.end())
    return Error{ErrorCode::kBadInput, "choose files of " + info.name,
                 "every file is skipped; leave one"};
  return chosen;
}

Result<std::uint32_t> only_file(const Info& info, const std::vector<bool>& chosen) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t file = 0; file < info.files.size(); ++file)
    if (is_chosen(chosen, file) && info.files[file].kind == FileEntry::Kind::kFile)
      found.push_back(file);
  if (found.size() == 1) return found[0];
  const std::string count = found.empty() ? "no file" : std::to_string(found.size()) + " files";
  return Error{ErrorCode::kBadInput, "take one file of " + info.name,
               count +
                   " of it would be taken; name one with --file or --select-file, as firn info "
                   "--files lists them"};
}

std::vector<FileEntry> chosen_entries(const Info& info, const std::vector<bool>& chosen) {
  std::vector<FileEntry> entries;
  for (std::uint32_t file = 0; file < info.files.size(); ++file)
    if (is_chosen(chosen, file)) entries.push_back(info.files[file]);
  return entries;
}

std::uint64_t bytes_of(const std::vector<FileEntry>& entries) {
  std::uint64_t bytes = 0;
  for (const FileEntry& entry : entries) bytes += entry.bytes;
  return bytes;
}

}  // namespace firn::content
