#include "client/app/daemon/content_move.h"
#include "client/app/daemon/move_check.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "../temp_folder.h"
#include "client/content/create.h"
#include "client/store/posix_files.h"
#include "client/store/work_folder.h"
#include "dying_files.h"
#include "tests/store/folding_files.h"

namespace firn::app {
namespace {

using tests::DyingFiles;
using tests::file_bytes;
using tests::Life;
using Step = KeptContent::Move;
namespace fs = std::filesystem;

// Every file and link below a folder, with its bytes, and every empty folder.
std::map<std::string, std::string> tree_of(const std::string& folder) {
  std::map<std::string, std::string> tree;
  if (!fs::exists(folder)) return tree;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = fs::relative(entry.path(), folder).string();
    if (entry.is_symlink()) {
      tree[path] = "-> " + fs::read_symlink(entry.path()).string();
    } else if (entry.is_regular_file()) {
      tree[path] = file_bytes(entry.path());
    } else if (fs::is_empty(entry.path())) {
      tree[path] = "folder";
    }
  }
  return tree;
}

// A content in folder/old, to be moved to folder/new.
struct Moved {
  firn::tests::TempFolder folder;
  const std::string old_folder = folder.path() + "/old", new_folder = folder.path() + "/new";
  Info info;
  ContentId id;
  bool complete;
  bool begun = false;
  std::string new_as;
  std::map<std::string, std::string> before;

  explicit Moved(bool whole, std::string as = "") : complete(whole), new_as(std::move(as)) {
    id.bytes[0] = 7;
    const fs::path path = old_folder + "/c";
    fs::create_directories(path / "empty");
    fs::create_directories(path / "d");
    std::ofstream(path / "a") << "first";
    std::ofstream(path / "d" / "b") << std::string(9000, 'b');
    std::ofstream(path / "d" / "none");
    fs::create_symlink("a", path / "link");
    fs::permissions(path / "d", fs::perms::owner_all);
    content::CreateOptions options;
    options.scan.links = content::ScanOptions::Links::kKeep;
    info = content::create_manifest(path.string(), options).value().info;
    if (!whole) {
      const fs::path work = fs::path(old_folder) / store::WorkFolder::path_of(id);
      fs::create_directories(work / "data" / "d");
      fs::rename(path / "d" / "b", work / "data" / "d" / "b");
      fs::remove(path / "link");
      std::ofstream(work / "journal") << "journal";
      std::ofstream(work / "spool") << std::string(4096, 's');
      std::ofstream(old_folder + "/" + store::WorkFolder::media_prefix_of(id) + "x.rows") << "rows";
    }
    before = tree_of(old_folder);
  }

  // What is to stand in the new folder.
  std::map<std::string, std::string> after() const {
    std::map<std::string, std::string> tree;
    for (const auto& [path, bytes] : before)
      tree[!new_as.empty() && path.starts_with("c/") ? new_as + path.substr(1) : path] = bytes;
    // An unfinished download goes on under the new name.
    if (!complete && !new_as.empty()) tree[store::WorkFolder::top_name_path_of(id)] = new_as;
    return tree;
  }
  ContentMove mover(Life& life, bool links) const {
    return {std::make_shared<DyingFiles>(store::open_posix_files(old_folder, true).value(), life,
                                         links),
            std::make_shared<DyingFiles>(store::open_posix_files(new_folder, true).value(), life,
                                         links),
            id,
            info,
            "",
            new_as,
            complete,
            complete || begun};
  }
  // As relocation.h takes the steps, until a kill; false: there was one.
  bool run(Step& step, Life& life, bool links) const {
    ContentMove move = mover(life, links);
    while (step == Step::kStage) {
      const auto staged = move.stage();
      if (!staged.ok()) return false;
      if (*staged) step = Step::kPlace;
    }
    if (step == Step::kPlace) {
      if (!move.place().ok()) return false;
      step = Step::kClear;
    }
    if (step == Step::kClear) {
      if (!move.clear().ok()) return false;
      step = Step::kNone;
    }
    return true;
  }
};

TEST_CASE(
    "a content that is moved is whole in the new folder, and nothing is left in the old one") {
  for (const bool whole : {true, false})
    for (const bool links : {true, false}) {
      CAPTURE(whole);
      CAPTURE(links);
      const Moved moved(whole, links ? "" : "other name");
      Life life;
      Step step = Step::kStage;
      REQUIRE(moved.run(step, life, links));
      CHECK(tree_of(moved.new_folder) == moved.after());
      CHECK(tree_of(moved.old_folder).empty());
      const fs::path work = store::WorkFolder::path_of(moved.id);
      const fs::path top = whole ? fs::path(links ? "c" : "other name") : work / "data";
      const auto closed = fs::status(moved.new_folder / top / "d");
      CHECK(closed.permissions() == fs::perms::owner_all);
    }
}

TEST_CASE("a move onto a disk that takes two of the names for one is refused and leaves nothing") {
  const Moved moved(true);
  std::ofstream(fs::path(moved.old_folder) / "c" / "A") << "second";
  content::CreateOptions options;
  options.scan.links = content::ScanOptions::Links::kKeep;
  const Info info = content::create_manifest(moved.old_folder + "/c", options).value().info;
  const auto before = tree_of(moved.old_folder);
  ContentMove move(store::open_posix_files(moved.old_folder, true).value(),
                   std::make_shared<store::test::FoldingFiles>(
                       store::open_posix_files(moved.new_folder, true).value()),
                   moved.id, info, "", "", true, true);
  const auto staged = move.stage();
  REQUIRE_FALSE(staged.ok());
  CHECK(staged.error().code == ErrorCode::kExists);
  CHECK(move.undo(false).ok());
  CHECK(tree_of(moved.new_folder).empty());
  CHECK(tree_of(moved.old_folder) == before);
}

TEST_CASE("a download whose files have just got their names moves with them, and only then") {
  for (const bool begun : {true, false}) {
    CAPTURE(begun);
    Moved moved(true);
    moved.complete = false;  // which was not noted yet
    moved.begun = begun;
    Life life;
    Step step = Step::kStage;
    REQUIRE(moved.run(step, life, true));
    CHECK(fs::exists(moved.new_folder + "/c/a") == begun);
    CHECK(fs::exists(moved.old_folder + "/c/a") != begun);
    if (!begun) continue;
    CHECK(tree_of(moved.new_folder) == moved.before);
    CHECK(tree_of(moved.old_folder).empty());
  }
}

TEST_CASE("a move that is killed at any call ends as if it had not been") {
  for (const bool whole : {true, false})
    for (const bool links : {true, false}) {
      bool ended = false;
      for (int calls = 0; !ended; ++calls) {
        CAPTURE(whole);
        CAPTURE(links);
        CAPTURE(calls);
        const Moved moved(whole, links ? "" : "other name");
        Life life{calls};
        Step step = Step::kStage;
        ended = moved.run(step, life, links);
        if (step != Step::kClear && step != Step::kNone)
          REQUIRE(tree_of(moved.old_folder) == moved.before);
        Life second;
        if (!ended) REQUIRE(moved.run(step, second, links));
        REQUIRE(tree_of(moved.new_folder) == moved.after());
        REQUIRE(tree_of(moved.old_folder).empty());
      }
    }
}

TEST_CASE(
    "a move that is taken back at any call leaves the old folder as it was, the new one empty") {
  for (const bool links : {true, false})
    for (int calls = 0;; ++calls) {
      CAPTURE(links);
      CAPTURE(calls);
      const Moved moved(false, links ? "" : "other name");
      Life life{calls};
      Step step = Step::kStage;
      if (moved.run(step, life, links) || step == Step::kClear) break;
      Life second;
      REQUIRE(moved.mover(second, links).undo(step == Step::kPlace).ok());
      REQUIRE(tree_of(moved.old_folder) == moved.before);
      REQUIRE(tree_of(moved.new_folder).empty());
    }
}

TEST_CASE("a folder that somebody has made in the new folder meanwhile takes in no file") {
  const Moved moved(true);
  Life life;
  ContentMove move = moved.mover(life, true);
  REQUIRE(move.stage().value());
  fs::create_directories(moved.new_folder + "/c");
  std::ofstream(moved.new_folder + "/c/mine") << "mine";
  const Status placed = move.place();
  REQUIRE_FALSE(placed.ok());
  CHECK(placed.error().code == ErrorCode::kExists);
  CHECK(tree_of(moved.new_folder + "/c") == std::map<std::string, std::string>{{"mine", "mine"}});
}

TEST_CASE("a file that has come to the new folder meanwhile is not replaced, nor taken back") {
  const Moved moved(true);
  Life life;
  ContentMove move = moved.mover(life, true);
  REQUIRE(move.stage().value());
  fs::create_directories(moved.new_folder + "/c/d");
  std::ofstream(moved.new_folder + "/c/d/b") << "another's";
  const Status placed = move.place();
  REQUIRE_FALSE(placed.ok());
  CHECK(placed.error().code == ErrorCode::kExists);
  REQUIRE(move.undo(true).ok());
  CHECK(tree_of(moved.new_folder) == std::map<std::string, std::string>{{"c/d/b", "another's"}});
  CHECK(tree_of(moved.old_folder) == moved.before);
}

TEST_CASE(
    "a copy that stood in the new folder before outlives an undo that is killed and repeated") {
  bool ended = false;
  for (int calls = 0; !ended; ++calls) {
    CAPTURE(calls);
    const Moved moved(true);
    Life life;
    ContentMove move = moved.mover(life, true);
    REQUIRE(move.stage().value());
    fs::create_directories(moved.new_folder + "/c/d");
    fs::copy_file(moved.old_folder + "/c/d/b", moved.new_folder + "/c/d/b");
    fs::last_write_time(moved.new_folder + "/c/d/b",
                        fs::last_write_time(moved.old_folder + "/c/d/b"));
    REQUIRE_FALSE(move.place().ok());
    Life killed{calls};
    ended = moved.mover(killed, true).undo(true).ok();
    Life last;
    REQUIRE(moved.mover(last, true).undo(true).ok());  // or it was not recorded that it ended
    CHECK(tree_of(moved.new_folder) ==
          std::map<std::string, std::string>{{"c/d/b", std::string(9000, 'b')}});
    REQUIRE(tree_of(moved.old_folder) == moved.before);
  }
}

TEST_CASE("what is not the content's stays in the old folder") {
  const Moved moved(true);
  std::ofstream(moved.old_folder + "/c/mine") << "mine";
  std::ofstream(moved.old_folder + "/c/a") << "of another size";
  Life life;
  Step step = Step::kStage;
  REQUIRE(moved.run(step, life, false));
  CHECK(tree_of(moved.old_folder) ==
        std::map<std::string, std::string>{{"c/a", "of another size"}, {"c/mine", "mine"}});
  CHECK(file_bytes(moved.new_folder + "/c/d/b") == std::string(9000, 'b'));
}

TEST_CASE("a complete content that is not in its folder is not moved") {
  const Moved moved(true);
  fs::remove_all(moved.old_folder + "/c");
  Life life;
  const auto staged = moved.mover(life, true).stage();
  REQUIRE_FALSE(staged.ok());
  CHECK(staged.error().code == ErrorCode::kNotFound);
}

TEST_CASE("a content goes neither into itself nor where it is, nor over something else") {
  const firn::tests::TempFolder folder;
  const std::string old = folder.path() + "/old";
  fs::create_directories(old + "/c");
  std::ofstream(old + "/c/a") << "first";
  const Manifest manifest = content::create_manifest(old + "/c", {}).value();
  KeptContent content;
  content.id = manifest.id;
  content.manifest = manifest.file_bytes;
  content.folder = old;
  const auto code = [&](const std::string& to, const std::string& as = "") {
    const Status free = check_move(content, {to, as});
    return free.ok() ? std::string("free") : std::string(error_code_name(free.error().code));
  };
  fs::create_directory_symlink(old, folder.path() + "/same");
  fs::create_directories(folder.path() + "/taken/c");
  std::ofstream(folder.path() + "/taken/c/mine") << "mine";
  fs::create_directories(folder.path() + "/empty/c");
  std::ofstream(folder.path() + "/file") << "no folder";
  CHECK(code(folder.path() + "/not/yet") == "free");
  CHECK(code(folder.path() + "/empty") == "free");
  CHECK(code("relative") == "bad_input");
  CHECK(code(old) == "bad_input");
  CHECK(code(old + "/") == "bad_input");
  CHECK(code(folder.path() + "/same") == "bad_input");
  CHECK(code(old + "/c") == "bad_input");
  CHECK(code(old + "/c/below") == "bad_input");
  CHECK(code(folder.path() + "/taken") == "exists");
  CHECK(code(folder.path() + "/taken", "other") == "free");
  CHECK(code(folder.path() + "/empty", "../c") == "bad_input");
  CHECK(code(folder.path() + "/file") == "exists");
}

TEST_CASE("a content is moved under a name that is refused only if its user says so") {
  const firn::tests::TempFolder folder;
  fs::create_directories(folder.path() + "/old/.c");
  std::ofstream(folder.path() + "/old/.c/a") << "first";
  const Manifest manifest = content::create_manifest(folder.path() + "/old/.c", {}).value();
  KeptContent content;
  content.id = manifest.id;
  content.manifest = manifest.file_bytes;
  content.folder = folder.path() + "/old";
  const std::string to = folder.path() + "/new";
  CHECK(check_move(content, {to, ""}).error().message().find("--as NAME") != std::string::npos);
  CHECK(check_move(content, {to, "c"}).ok());
  CHECK(check_move(content, {to, ".c"}).ok());
}

}  // namespace
}  // namespace firn::app
