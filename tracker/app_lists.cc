#include "tracker/app_lists.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "proto/base/plain_text.h"
#include "proto/base/public_key.h"
#include "proto/program/input_file.h"

namespace firn::tracker {
namespace {

constexpr std::size_t kListBytesMax = 64 << 20;
constexpr std::uint64_t kLimitMax = 1'000'000'000'000;
constexpr std::string_view kSpaces = " \t\r";

// Without its comment and the spaces around.
std::string_view tidied(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const std::size_t begin = line.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kSpaces) - begin + 1);
}

// `take`: of each line that is not empty; what is wrong with it, if anything.
template <typename Take>
Status read_lines(const std::string& path, Take take) {
  const auto text = read_input_file(path, kListBytesMax);
  if (!text.ok()) return text.error();
  std::string_view rest = *text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = tidied(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) continue;
    if (const std::optional<std::string> fault = take(line))
      return Error{ErrorCode::kBadInput, "read the list " + path,
                   "line " + std::to_string(number) + " " + *fault};
  }
  return Done{};
}

std::string is_no(const char* what) {
  return std::string("is no ") + what + " of 52 characters a-z and 2-7";
}

// The first word of `line`, which keeps the others.
std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find_first_of(kSpaces), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  line = tidied(line);
  return word;
}

// "contents=20". False: it is not of that form.
bool read_limit(std::string_view word, PublisherLimits& limits) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = word.substr(std::min(equals + 1, word.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number > kLimitMax)
    return false;
  if (name == "contents") return limits.contents = number, true;
  if (name == "manifest-kib") return limits.manifest_bytes = number << 10, true;
  if (name == "peers") return limits.peers = number, true;
  return false;
}

Result<PublisherList> read_publishers(const std::string& path, const PublisherLimits& of_all) {
  PublisherList list;
  const Status read = read_lines(path, [&](std::string_view line) -> std::optional<std::string> {
    const auto key = public_key_from_text(take_word(line));
    if (!key) return is_no("publisher's key");
    PublisherLimits limits = of_all;
    while (!line.empty()) {
      const std::string word(take_word(line));
      if (!read_limit(word, limits))
        return "has '" + to_plain_text(word, 40) +
               "' behind the key, which is none of contents=COUNT, manifest-kib=KIB, peers=COUNT";
    }
    list[*key] = limits;
    return std::nullopt;
  });
  if (!read) return read.error();
  return list;
}

Result<std::unordered_set<ContentId>> read_contents(const std::string& path) {
  std::unordered_set<ContentId> ids;
  const Status read = read_lines(path, [&](std::string_view line) -> std::optional<std::string> {
    const auto id = ContentId::from_text(line);
    if (!id) return is_no("content id");
    ids.insert(*id);
    return std::nullopt;
  });
  if (!read) return read.error();
  return ids;
}

}  // namespace

Result<ServedLists> read_served_lists(const std::string& publishers, const std::string& contents,
                                      const PublisherLimits& of_all) {
  ServedLists lists;
  if (!publishers.empty()) {
    auto keys = read_publishers(publishers, of_all);
    if (!keys.ok()) return keys.error();
    lists.publishers = *std::move(keys);
  }
  if (!contents.empty()) {
    auto ids = read_contents(contents);
    if (!ids.ok()) return ids.error();
    lists.contents = *std::move(ids);
  }
  return lists;
}

}  // namespace firn::tracker
