// Which files of a content are wanted: rules in the order in which a person gave them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/result.h"
#include "proto/content/manifest.h"

namespace firn::content {

struct FileRule {
  enum class Kind : std::uint8_t {
    kFile,    // --file GLOB: these too
    kSkip,    // --skip GLOB: not these
    kSelect,  // --select-file 1,3-5: these too, by their numbers
  };
  Kind kind = Kind::kFile;
  std::string text;  // a pattern (path_glob.h); numbers and ranges of places in Info::files, from 1

  bool operator==(const FileRule&) const = default;
};

// Errors: kBadInput (an empty pattern, or one that is no UTF-8, as no name is; no list of numbers;
// too long).
Status check_file_rule(const FileRule& rule);

// Later rules go before earlier ones. A file that no rule names is chosen if the first rule is a
// skip, or if there is none.
class FileChoice {
 public:
  // As texts() wrote them. Errors: as add()'s, and kBadInput for a rule of an unknown kind.
  static Result<FileChoice> from_texts(const std::vector<std::string>& texts);

  // Errors: as check_file_rule(); kBadInput (too many rules).
  Status add(const FileRule& rule);

  const std::vector<FileRule>& rules() const { return rules_; }
  bool empty() const { return rules_.empty(); }
  // For JSON, and for records that last: "file:*.mkv", "skip:extras/", "select:1,3-5".
  std::vector<std::string> texts() const;

  bool operator==(const FileChoice&) const = default;

 private:
  std::vector<FileRule> rules_;
};

// For each of `info.files` (files, links and empty folders alike) whether it is chosen. The path of
// a single file is the content's name. A pattern that fits nothing is taken letter for letter, as
// shells do: names with brackets may be pasted. Errors: kBadInput (a rule that names nothing, which
// shows near names; nothing is chosen).
Result<std::vector<bool>> chosen_files(const Info& info, const FileChoice& choice);

// The one file that is chosen, links and folders aside. Errors: kBadInput (none is, or several),
// which says what to do.
Result<std::uint32_t> only_file(const Info& info, const std::vector<bool>& chosen);

// Those of `info.files` that are chosen: a flag for each (division.h).
std::vector<FileEntry> chosen_entries(const Info& info, const std::vector<bool>& chosen);
// What their bytes are together.
std::uint64_t bytes_of(const std::vector<FileEntry>& entries);

}  // namespace firn::content
