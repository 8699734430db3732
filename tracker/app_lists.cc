#include "tracker/app_lists.h"

#include <algorithm>
#include <string_view>

#include "proto/program/input_file.h"

namespace firn::tracker {
namespace {

constexpr std::size_t kListBytesMax = 64 << 20;
constexpr std::string_view kSpaces = " \t\r";

// Without its comment and the spaces around.
std::string_view tidied(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const std::size_t begin = line.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kSpaces) - begin + 1);
}

template <typename Id>
Result<std::unordered_set<Id>> read_list(const std::string& path, const char* what) {
  const auto text = read_input_file(path, kListBytesMax);
  if (!text.ok()) return text.error();
  std::unordered_set<Id> ids;
  std::string_view rest = *text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = tidied(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) continue;
    const auto id = Id::from_text(line);
    if (!id)
      return Error{
          ErrorCode::kBadInput, "read the list " + path,
          "line " + std::to_string(number) + " is no " + what + " of 52 characters a-z and 2-7"};
    ids.insert(*id);
  }
  return ids;
}

}  // namespace

Result<ServedLists> read_served_lists(const std::string& publishers, const std::string& contents) {
  ServedLists lists;
  if (!publishers.empty()) {
    auto keys = read_list<PublicKey>(publishers, "publisher's key");
    if (!keys.ok()) return keys.error();
    lists.publishers = *std::move(keys);
  }
  if (!contents.empty()) {
    auto ids = read_list<ContentId>(contents, "content id");
    if (!ids.ok()) return ids.error();
    lists.contents = *std::move(ids);
  }
  return lists;
}

}  // namespace firn::tracker
