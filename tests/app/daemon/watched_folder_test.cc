// What becomes of files that appear in a watched folder.
#include "client/app/daemon/watched_folder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "../temp_folder.h"

namespace firn::app {
namespace {

namespace fs = std::filesystem;

// A watched folder, and what was to be added from it.
struct Inbox {
  Inbox() { watch.set({{folder.path(), output.path()}}); }

  std::string path(const std::string& name) const { return folder.path() + "/" + name; }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  // Looks once; how many contents were to be added then.
  std::size_t look() {
    const std::size_t before = added.size();
    watch.turn(now);
    while (pool.task_count() > 0) {
      pool.run_completions();
      std::this_thread::yield();
    }
    return added.size() - before;
  }
  void wait() { now += FolderWatch::kInterval; }

  tests::TempFolder folder, output;
  core::TimeUs now = core::kSecond;
  std::vector<std::string> added;
  WorkerPool pool{{.threads = 1}, [] {}};
  std::unique_ptr<Console> console = *Console::open(ConsoleOptions());
  FolderWatch watch{pool, *console, [this](const AddRequest& request) -> Result<Json> {
                      added.push_back(request.source);
                      return Json();
                    }};
};

TEST_CASE("a file that was added takes a free name, and what has the usual one stays") {
  Inbox inbox;
  inbox.put("x.firn", "manifest");
  inbox.put("x.firn.added", "mine");
  fs::create_directory(inbox.path("x.firn.added-2"));
  inbox.look();
  inbox.wait();
  CHECK(inbox.look() == 1);
  CHECK(tests::file_bytes(inbox.path("x.firn.added")) == "mine");
  CHECK(tests::file_bytes(inbox.path("x.firn.added-3")) == "manifest");
  CHECK_FALSE(fs::exists(inbox.path("x.firn")));
}

TEST_CASE("of many files and lines a few are added at a time, and all without a wait") {
  Inbox inbox;
  std::string lines;
  std::vector<std::string> links;
  for (int i = 0; i < 40; ++i) {
    links.push_back("firn:one" + std::to_string(i));
    inbox.put(std::to_string(i) + ".link", links.back());
    links.push_back("firn:many" + std::to_string(i));
    lines += links.back() + "\n";
  }
  inbox.put("many.link", lines);
  inbox.put("bad.link", "no link");  // refused later: it keeps nobody from being added
  inbox.look();
  inbox.wait();
  CHECK(inbox.look() <= FolderWatch::kAddsPerLook);
  inbox.put("new.link", "firn:new");
  for (std::size_t looks = 0; looks <= links.size() && inbox.added.size() < links.size(); ++looks)
    CHECK(inbox.look() <= FolderWatch::kAddsPerLook);
  // Two looks of the same second may find a file the same that is still being written.
  CHECK(fs::exists(inbox.path("new.link")));
  inbox.wait();
  CHECK(inbox.look() == 1);
  links.push_back("firn:new");
  std::ranges::sort(links);
  std::ranges::sort(inbox.added);
  CHECK(inbox.added == links);
  CHECK(fs::exists(inbox.path("many.link.added")));
  CHECK_FALSE(fs::exists(inbox.path("39.link")));
}

}  // namespace
}  // namespace firn::app
