#include "client/content/file_choice.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace firn::content {
namespace {

using Kind = FileRule::Kind;

FileEntry file(const std::string& path) {
  FileEntry entry;
  entry.path = path;
  entry.bytes = 1;
  return entry;
}

Info films() {
  Info info;
  info.name = "films";
  for (const char* path : {"a.mkv", "b.mkv", "extras/a.mkv", "extras/notes.txt", "subs/a b.srt"})
    info.files.push_back(file(path));
  info.files.push_back(file("empty"));
  info.files.back().kind = FileEntry::Kind::kFolder;
  info.files.push_back(file("link"));
  info.files.back().kind = FileEntry::Kind::kLink;
  return info;
}

Result<std::vector<bool>> chosen_of(const Info& info, const std::vector<std::string>& rules) {
  const auto choice = FileChoice::from_texts(rules);
  return choice.ok() ? chosen_files(info, *choice) : choice.error();
}

// The numbers of the chosen files: "1 3 ".
std::string chosen(const Info& info, const std::vector<std::string>& rules) {
  const auto flags = chosen_of(info, rules);
  if (!flags.ok()) return flags.error().message();
  std::string text;
  for (std::size_t i = 0; i < flags->size(); ++i)
    if ((*flags)[i]) text += std::to_string(i + 1) + " ";
  return text;
}

std::string refusal(const Info& info, const std::vector<std::string>& rules) {
  const auto flags = chosen_of(info, rules);
  REQUIRE_FALSE(flags.ok());
  CHECK(flags.error().code == ErrorCode::kBadInput);
  return flags.error().message();
}

TEST_CASE("later rules go before earlier ones, and the first says what holds for all others") {
  const Info info = films();
  CHECK(chosen(info, {}) == "1 2 3 4 5 6 7 ");
  CHECK(chosen(info, {"file:*.mkv"}) == "1 2 3 ");
  CHECK(chosen(info, {"skip:*.mkv"}) == "4 5 6 7 ");
  CHECK(chosen(info, {"file:*.mkv", "skip:extras/"}) == "1 2 ");
  CHECK(chosen(info, {"skip:extras/", "file:*.mkv"}) == "1 2 3 5 6 7 ");
  CHECK(chosen(info, {"skip:extras", "file:notes.txt"}) == "1 2 4 5 6 7 ");
  CHECK(chosen(info, {"select:2,4-5"}) == "2 4 5 ");
  CHECK(chosen(info, {"select:7,1,1-2"}) == "1 2 7 ");
  CHECK(chosen(info, {"file:extras/", "skip:*.mkv", "select:1"}) == "1 4 ");
  CHECK(chosen(info, {"select:1-7", "skip:extras"}) == "1 2 5 6 7 ");
}

TEST_CASE("empty folders and links are chosen like files") {
  const Info info = films();
  CHECK(chosen(info, {"file:empty/"}) == "6 ");
  CHECK(chosen(info, {"file:empty"}) == "6 ");
  CHECK(chosen(info, {"file:link"}) == "7 ");
  CHECK(refusal(info, {"file:link/"}).find("no folder fits") != std::string::npos);
}

TEST_CASE("a content that is a single file is chosen by its name") {
  Info info;
  info.name = "film.mkv";
  info.single_file = true;
  info.files.push_back(file(""));
  CHECK(chosen(info, {"file:*.mkv"}) == "1 ");
  CHECK(chosen(info, {"file:/film.mkv"}) == "1 ");
  CHECK(chosen(info, {"select:1"}) == "1 ");
  CHECK(refusal(info, {"file:film.mkb"}).find("did you mean 'film.mkv'?") != std::string::npos);
}

TEST_CASE("a pattern that fits nothing is refused with up to three near names") {
  const Info info = films();
  CHECK(refusal(info, {"file:*.mkb"}) ==
        "choose '*.mkb': no file or folder fits; did you mean 'a.mkv', 'b.mkv' or 'extras/a.mkv'?");
  CHECK(refusal(info, {"file:B.mkv"}) ==
        "choose 'B.mkv': no file or folder fits; did you mean 'b.mkv', 'a.mkv' or 'extras/a.mkv'?");
  CHECK(refusal(info, {"skip:extra/"}) == "skip 'extra/': no folder fits; did you mean 'extras/'?");
  CHECK(refusal(info, {"file:subs/a_b.srt"}) ==
        "choose 'subs/a_b.srt': no file or folder fits; did you mean 'subs/a b.srt'?");
  CHECK(refusal(info, {"file:*.mkv", "skip:nothing like it"}) ==
        "skip 'nothing like it': no file or folder fits; firn info --files shows what there is");
  CHECK(refusal(info, {"file:a\nb\x1b"}).find("choose 'a\\nb\\x1b'") != std::string::npos);
}

TEST_CASE("what is near in a content of very many files is looked for among the first") {
  Info info;
  info.name = "many";
  for (int i = 0; i < 200'000; ++i) info.files.push_back(file(std::to_string(i) + ".csv"));
  CHECK(refusal(info, {"file:70.cvs"}).find("'70.csv'") != std::string::npos);
  CHECK(refusal(info, {"file:" + std::string(4096, 'x')}).find("xxx...'") != std::string::npos);
}

TEST_CASE("a pattern that fits nothing as one is taken letter for letter") {
  Info info = films();
  info.files.push_back(file("[Group] Film [1080p].mkv"));
  info.files.push_back(file("x/what?"));
  info.files.push_back(file("x/whats"));
  CHECK(chosen(info, {"file:[Group] Film [1080p].mkv"}) == "8 ");
  CHECK(chosen(info, {"file:\\[Group\\]*"}) == "8 ");
  CHECK(chosen(info, {"file:what?"}) == "9 10 ");
  CHECK(refusal(info, {"file:[Group] Film [1080p].mkb"})
            .find("did you mean '[Group] Film [1080p].mkv'?") != std::string::npos);
}

TEST_CASE("numbers are those of the list, and others are refused with how many there are") {
  const Info info = films();
  CHECK(refusal(info, {"select:8"}) == "choose '8': there is no file 8; the last has number 7");
  CHECK(refusal(info, {"select:1,3-4294967295"}).find("the last has number 7") !=
        std::string::npos);
  for (const std::string list :
       {"", "0", "0-1", "x", "1,", ",1", "1,,2", "1-", "-1", "3-2", "1-2-3", "1 2", "1, 2", "+1",
        "1.5", "4294967296", "1-99999999999", "1;2"}) {
    CAPTURE(list);
    CHECK(refusal(info, {"select:" + list}) ==
          "choose '" + list + "': write numbers of files, from 1, and ranges of them: 1,3-5");
  }
}

TEST_CASE("a choice of nothing is refused") {
  CHECK(refusal(films(), {"skip:*"}) == "choose files of films: every file is skipped; leave one");
  (void)refusal(films(), {"file:a.mkv", "skip:*.mkv"});
}

TEST_CASE("rules have bounds") {
  FileChoice choice;
  for (const FileRule& rule : std::vector<FileRule>{{Kind::kFile, ""},
                                                    {Kind::kSkip, "/"},
                                                    {Kind::kSkip, "//"},
                                                    {Kind::kFile, "\xff"},
                                                    {Kind::kFile, std::string(4097, 'a')},
                                                    {Kind::kSelect, std::string(65537, '1')}}) {
    const Status added = choice.add(rule);
    REQUIRE_FALSE(added.ok());
    CHECK(added.error().code == ErrorCode::kBadInput);
    CHECK(added.error().message().size() < 1000);
  }
  CHECK(choice.empty());
  for (int i = 0; i < 1024; ++i) CHECK(choice.add({Kind::kFile, "a"}).ok());
  CHECK_FALSE(choice.add({Kind::kFile, "a"}).ok());
}

TEST_CASE("rules are written as texts that read the same") {
  const std::vector<std::string> texts = {"file:*.mkv", "skip:extras/", "select:1,3-5", "file:a:b",
                                          "skip:two words\n\u00fc"};
  const auto choice = FileChoice::from_texts(texts);
  REQUIRE(choice.ok());
  CHECK(choice->texts() == texts);
  CHECK(choice->rules()[1] == FileRule{Kind::kSkip, "extras/"});
  CHECK(FileChoice::from_texts({})->empty());
  for (const std::string text :
       {"", "file", "files:a", "File:a", "only:a", ":a", "file:", "select:x"}) {
    CAPTURE(text);
    CHECK_FALSE(FileChoice::from_texts({text}).ok());
  }
  CHECK(FileChoice::from_texts({"only:a"}).error().message() ==
        "choose 'only:a': a rule begins with 'file:', 'skip:' or 'select:'");
}

}  // namespace
}  // namespace firn::content
