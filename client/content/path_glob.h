// A pattern for paths of a content, as rsync and .gitignore have them: `*.mkv`, `extras/`,
// `season-[12]/**/*.srt`.
//
// A pattern may begin at any name of a path, that of the file or of a folder which it lies in, and
// has to end at the end of a name: `docs/*.pdf` fits a/docs/x.pdf. One that begins with "/" or "./"
// begins at the content's folder. A '/' at the end stands for a folder, and a folder for all that
// is in it. `*` and `?` (one character) stop at '/', as do `[a-z]` and `[!a-z]`. In a pattern of
// several names or from the content's folder on, `**` goes across folders, and `**/` may also stand
// for none. A backslash takes the next character as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace firn::content {

class PathGlob {
 public:
  enum class Syntax {
    kWildcards,
    kNone,  // every character but '/' stands for itself
  };
  explicit PathGlob(std::string_view pattern, Syntax syntax = Syntax::kWildcards);

  // Whether `path`, or a folder on it, fits. `is_folder`: of the path itself. Time: at most the
  // product of both lengths. Bytes that are no UTF-8 are characters by themselves.
  bool fits(std::string_view path, bool is_folder) const;

  // The part of a path, from its beginning to the end of a name, that fits with the fewest changes.
  struct Near {
    std::size_t changes = 0;  // characters to insert, delete or replace; case counts for nothing
    std::size_t bytes = 0;    // of the path
  };
  Near nearest(std::string_view path, bool is_folder) const;

  // Characters of the pattern that stand for themselves.
  std::size_t letters() const;
  // How much nearest() computes for each character of a path.
  std::size_t size() const { return tokens_.size(); }
  bool folders_only() const { return folders_only_; }

 private:
  enum class Kind : std::uint8_t {
    kLetter,
    kAny,      // ?
    kClass,    // [...]
    kStar,     // *
    kStars,    // **
    kFolders,  // the ** of a **/ at the beginning of a name; the token for that '/' follows
  };
  struct Token {
    Kind kind;
    std::uint32_t value;  // a letter's code point, a class's index
  };
  struct Range {
    std::uint32_t first, last;
  };
  struct Class {
    bool negated = false;
    std::vector<Range> ranges;
  };

  void add_wildcards(std::string_view pattern, bool across);
  std::size_t add_class(std::string_view text);
  bool takes(const Token& token, std::uint32_t letter) const;
  bool repeats(std::size_t at, std::uint32_t letter) const;
  void enter(std::size_t at, std::vector<std::uint32_t>& places, std::vector<bool>& entered) const;
  void relax(std::vector<std::size_t>& changes) const;

  std::vector<Token> tokens_;
  std::vector<Class> classes_;
  bool folders_only_ = false;
};

}  // namespace firn::content
