#include "client/content/entries_text.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace firn::content {
namespace {

struct Kind {
  FileEntry::Kind kind;
  const char* one;
  const char* many;
};
constexpr Kind kKinds[] = {{FileEntry::Kind::kFile, "file", "files"},
                           {FileEntry::Kind::kFolder, "folder", "folders"},
                           {FileEntry::Kind::kLink, "link", "links"}};

std::size_t count_of(std::span<const FileEntry> entries, FileEntry::Kind kind) {
  return static_cast<std::size_t>(std::ranges::count(entries, kind, &FileEntry::kind));
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

}  // namespace

std::string entries_text(std::span<const FileEntry> entries) {
  std::vector<std::string> words;
  for (const Kind& kind : kKinds) {
    const std::size_t count = count_of(entries, kind.kind);
    if (count > 0)
      words.push_back(std::to_string(count) + " " + (count == 1 ? kind.one : kind.many));
  }
  return words.empty() ? "no files" : listed(words);
}

std::string part_of_entries(std::size_t count, std::span<const FileEntry> entries) {
  if (entries.empty()) return "the folder";
  std::vector<std::string> words;
  for (const Kind& kind : kKinds)
    if (count_of(entries, kind.kind) > 0)
      words.push_back(entries.size() == 1 ? kind.one : kind.many);
  return std::to_string(count) + " of " + std::to_string(entries.size()) + " " + listed(words);
}

}  // namespace firn::content
