#include "client/content/path_glob.h"

#include <algorithm>

#include "proto/base/characters.h"

namespace firn::content {
namespace {

constexpr std::uint32_t kNoUtf8 = 0x110000;  // and the byte: beyond all code points

// The first character of `text`, taken off it.
std::uint32_t take_letter(std::string_view& text) {
  const Character first = first_character(text);
  const auto letter =
      first.bytes > 0 ? first.code_point : kNoUtf8 + static_cast<std::uint8_t>(text[0]);
  text.remove_prefix(std::max<std::size_t>(first.bytes, 1));
  return letter;
}

std::uint32_t small(std::uint32_t letter) {
  return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

}  // namespace

PathGlob::PathGlob(std::string_view pattern, Syntax syntax) {
  bool anywhere = true;  // it may begin
  for (const std::string_view top : {"./", "/"}) {
    if (!pattern.starts_with(top)) continue;
    anywhere = false;
    pattern.remove_prefix(top.size());
    break;
  }
  if (pattern.ends_with('/')) {
    folders_only_ = true;
    pattern.remove_suffix(1);
  }
  if (anywhere) tokens_ = {{Kind::kFolders, 0}, {Kind::kLetter, '/'}};
  if (syntax == Syntax::kWildcards) {
    add_wildcards(pattern, !anywhere || pattern.find('/') != std::string_view::npos);
  } else {
    while (!pattern.empty()) tokens_.push_back({Kind::kLetter, take_letter(pattern)});
  }
}

// `across`: `**` goes across folders.
void PathGlob::add_wildcards(std::string_view text, bool across) {
  bool at_name = true;  // at the beginning of a name
  while (!text.empty()) {
    if (at_name && text.starts_with("**/")) {
      tokens_.insert(tokens_.end(), {{Kind::kFolders, 0}, {Kind::kLetter, '/'}});
      text.remove_prefix(3);
      continue;
    }
    at_name = text[0] == '/';
    if (text[0] == '*') {
      const std::size_t stars = std::min(text.find_first_not_of('*'), text.size());
      tokens_.push_back({stars > 1 && across ? Kind::kStars : Kind::kStar, 0});
      text.remove_prefix(stars);
    } else if (text[0] == '?') {
      tokens_.push_back({Kind::kAny, 0});
      text.remove_prefix(1);
    } else if (const std::size_t bytes = add_class(text); bytes > 0) {
      text.remove_prefix(bytes);
    } else {
      if (text[0] == '\\' && text.size() > 1) text.remove_prefix(1);
      tokens_.push_back({Kind::kLetter, take_letter(text)});
    }
  }
}

// How many bytes of `text` the class at its beginning has; 0: there is none, and a '[' that has no
// ']' stands for itself.
std::size_t PathGlob::add_class(std::string_view text) {
  if (text[0] != '[') return 0;
  std::string_view rest = text.substr(1);
  Class added;
  added.negated = rest.starts_with('!') || rest.starts_with('^');
  if (added.negated) rest.remove_prefix(1);
  const auto take = [&rest] {
    if (rest[0] == '\\' && rest.size() > 1) rest.remove_prefix(1);
    return take_letter(rest);
  };
  // A ']' that comes first is one of the class.
  for (bool first = true; first || !rest.starts_with(']'); first = false) {
    if (rest.empty()) return 0;
    const std::uint32_t begin = take();
    std::uint32_t end = begin;
    if (rest.size() > 1 && rest[0] == '-' && rest[1] != ']') {
      rest.remove_prefix(1);
      end = take();
    }
    added.ranges.push_back({begin, end});
  }
  tokens_.push_back({Kind::kClass, static_cast<std::uint32_t>(classes_.size())});
  classes_.push_back(std::move(added));
  return text.size() - rest.size() + 1;
}

std::size_t PathGlob::letters() const {
  const auto is_letter = [](const Token& token) {
    return token.kind == Kind::kLetter && token.value != '/';
  };
  return static_cast<std::size_t>(std::ranges::count_if(tokens_, is_letter));
}

// Whether the token stands for this one character.
bool PathGlob::takes(const Token& token, std::uint32_t letter) const {
  if (token.kind == Kind::kLetter) return token.value == letter;
  if (letter == '/') return false;
  if (token.kind != Kind::kClass) return token.kind == Kind::kAny;
  const Class& one = classes_[token.value];
  const bool in = std::ranges::any_of(one.ranges, [letter](const Range& range) {
    return range.first <= letter && letter <= range.last;
  });
  return in != one.negated;
}

// Whether the token before the place `at` goes on with this character.
bool PathGlob::repeats(std::size_t at, std::uint32_t letter) const {
  if (at == 0) return false;
  const Kind kind = tokens_[at - 1].kind;
  return kind == Kind::kStars || kind == Kind::kFolders || (kind == Kind::kStar && letter != '/');
}

// Adds the place `at` between tokens, and those after it that are reached without a character.
void PathGlob::enter(std::size_t at, std::vector<std::uint32_t>& places,
                     std::vector<bool>& entered) const {
  for (; !entered[at]; ++at) {
    entered[at] = true;
    places.push_back(static_cast<std::uint32_t>(at));
    if (at == tokens_.size()) return;
    const Kind kind = tokens_[at].kind;
    if (kind == Kind::kFolders) enter(at + 2, places, entered);
    if (kind != Kind::kStar && kind != Kind::kStars && kind != Kind::kFolders) return;
  }
}

// All places between tokens that the characters so far may lead to (Thompson, Regular Expression
// Search Algorithm, CACM 1968): no way is tried twice, as it is with backtracking.
bool PathGlob::fits(std::string_view path, bool is_folder) const {
  std::vector<std::uint32_t> places, next;
  std::vector<bool> entered(tokens_.size() + 1);
  enter(0, places, entered);
  while (!path.empty()) {
    const std::uint32_t letter = take_letter(path);
    if (letter == '/' && entered.back()) return true;  // a folder
    for (const std::uint32_t at : places) entered[at] = false;
    next.clear();
    for (const std::uint32_t at : places) {
      if (repeats(at, letter)) enter(at, next, entered);
      if (at < tokens_.size() && takes(tokens_[at], letter)) enter(at + 1, next, entered);
    }
    if (next.empty()) return false;
    places.swap(next);
  }
  return entered.back() && (is_folder || !folders_only_);
}

// Lets each place be reached from those before it without a character of the path.
void PathGlob::relax(std::vector<std::size_t>& changes) const {
  for (std::size_t at = 0; at < tokens_.size(); ++at) {
    const Kind kind = tokens_[at].kind;
    const bool free = kind == Kind::kStar || kind == Kind::kStars || kind == Kind::kFolders;
    changes[at + 1] = std::min(changes[at + 1], changes[at] + (free ? 0 : 1));
    if (kind == Kind::kFolders) changes[at + 2] = std::min(changes[at + 2], changes[at]);
  }
}

// Levenshtein's table, whose columns are the places between tokens.
PathGlob::Near PathGlob::nearest(std::string_view path, bool is_folder) const {
  const std::size_t never = path.size() + tokens_.size() + 1;
  std::vector<std::size_t> changes(tokens_.size() + 1, never), next(tokens_.size() + 1);
  changes[0] = 0;
  relax(changes);
  Near near{never, path.size()};
  const auto look = [&](std::size_t bytes) {
    if (changes.back() < near.changes) near = {changes.back(), bytes};
  };
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t begin = path.size() - rest.size();
    const std::uint32_t letter = take_letter(rest);
    if (letter == '/') look(begin);
    for (std::size_t at = 0; at <= tokens_.size(); ++at) {
      next[at] = changes[at] + (repeats(at, letter) ? 0 : 1);
      if (at == 0) continue;
      const Token& token = tokens_[at - 1];
      const bool taken = takes(token, letter) ||
                         (token.kind == Kind::kLetter && small(token.value) == small(letter));
      next[at] = std::min(next[at], changes[at - 1] + (taken ? 0 : 1));
    }
    relax(next);
    changes.swap(next);
  }
  if (is_folder || !folders_only_) look(path.size());
  return near;
}

}  // namespace firn::content
