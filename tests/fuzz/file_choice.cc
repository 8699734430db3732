// Rules for choosing files, a line each, and after an empty line the paths of a content (a folder's
// ends in '/'): rules that are taken are written as ones that mean the same, and a choice takes
// something or says why not, in plain text.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "client/content/file_choice.h"
#include "client/content/path_glob.h"
#include "proto/base/plain_text.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::file_choice {
using namespace firn::content;

std::string take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

Info content_of(std::string_view paths) {
  Info info;
  info.name = "fuzz";
  while (!paths.empty()) {
    FileEntry entry;
    entry.path = take_line(paths);
    if (entry.path.ends_with('/')) {
      entry.kind = FileEntry::Kind::kFolder;
      entry.path.pop_back();
    }
    info.files.push_back(std::move(entry));
  }
  info.single_file = info.files.size() == 1;
  return info;
}

// A pattern that has each character of a path, quoted or plain, fits it.
void check_itself(const std::string& path) {
  if (path.empty() || path.starts_with('/') || path.starts_with("./") || path.ends_with('/'))
    return;
  std::string quoted;
  for (const char c : path) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  FIRN_CHECK(PathGlob(quoted).fits(path, false));
  FIRN_CHECK(PathGlob(path, PathGlob::Syntax::kNone).fits(path, false));
}

FIRN_FUZZ_TARGET(file_choice) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> rules;
  for (std::string line = take_line(text); !line.empty(); line = take_line(text))
    rules.push_back(line);
  const Info info = content_of(text);
  const auto choice = FileChoice::from_texts(rules);
  if (!choice.ok()) {
    FIRN_CHECK(choice.error().code == ErrorCode::kBadInput);
    FIRN_CHECK(is_plain_text(choice.error().message()));
    return 0;
  }
  const auto again = FileChoice::from_texts(choice->texts());
  FIRN_CHECK(again.ok() && *again == *choice && choice->texts() == rules);
  const auto chosen = chosen_files(info, *choice);
  if (chosen.ok()) {
    FIRN_CHECK(chosen->size() == info.files.size());
    FIRN_CHECK(rules.empty() || std::ranges::count(*chosen, true) > 0);
  } else {
    FIRN_CHECK(chosen.error().code == ErrorCode::kBadInput);
    FIRN_CHECK(is_plain_text(chosen.error().message()));
  }
  for (const FileEntry& file : info.files) {
    check_itself(file.path);
    const bool is_folder = file.kind == FileEntry::Kind::kFolder;
    for (const FileRule& rule : choice->rules()) {
      const PathGlob glob(rule.text);
      const PathGlob::Near near = glob.nearest(file.path, is_folder);
      FIRN_CHECK(near.bytes <= file.path.size());
      FIRN_CHECK(!glob.fits(file.path, is_folder) || near.changes == 0);
    }
  }
  return 0;
}

}  // namespace firn::fuzz::file_choice
