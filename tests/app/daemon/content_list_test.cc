// What a daemon says of its contents before they have sessions.
#include "client/app/daemon/content_list.h"

#include <doctest/doctest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../temp_folder.h"
#include "proto/content/link.h"
#include "tests/proto/sample_manifest.h"

namespace firn::app {
namespace {

using tests::TempFolder;

ContentId id_of(std::uint8_t number) {
  ContentId id;
  id.bytes[0] = number;
  return id;
}

KeptContent download_of(std::uint8_t number) {
  KeptContent content;
  content.id = id_of(number);
  content.link = to_text(Link{content.id, {}, {}, {}, {}});
  content.folder = "/somewhere/" + std::to_string(number);
  content.seeding = "forever";
  content.position = number;
  return content;
}

// A daemon that has started and has not had a turn yet.
struct StartedDaemon {
  explicit StartedDaemon(const std::vector<KeptContent>& kept, const QueueLimits& queue = {}) {
    for (const KeptContent& content : kept) REQUIRE(store->insert(content).ok());
    DriverOptions options;
    options.listen = Address{{}, "127.0.0.1", 0};
    options.codec = CodecMode::kCpu;
    options.threads = 1;
    auto started = PeerDriver::start(options, *console);
    REQUIRE(started.ok());
    driver = *std::move(started);
    hooks = std::make_unique<Hooks>(driver->loop(), *console);
    const auto no_plan = [](const KeptContent&) -> Result<SessionPlan> {
      return Error{ErrorCode::kNotFound, "plan", "there is none in this test"};
    };
    auto restored =
        ContentList::restore({*driver, *store, limits, core::kSecond, *console, *hooks, downloads,
                              no_plan, [] { return std::vector<Address>(); }},
                             queue, {});
    REQUIRE(restored.ok());
    list = *std::move(restored);
  }

  TempFolder folder;
  std::unique_ptr<Console> console = *Console::open(ConsoleOptions());
  std::unique_ptr<ContentsStore> store = *ContentsStore::open(folder.path() + "/c.sqlite");
  TransferLimits limits = *TransferLimits::restore(*store, {});
  std::string downloads;
  std::unique_ptr<PeerDriver> driver;
  std::unique_ptr<Hooks> hooks;
  std::unique_ptr<ContentList> list;
};

TEST_CASE("a daemon that has just started knows which contents it is about to open") {
  KeptContent paused = download_of(2), finished = download_of(3), moving = download_of(4);
  paused.paused = true;
  finished.seeded = true;
  moving.move = KeptContent::Move::kStage;
  moving.other_folder = "/elsewhere";
  const StartedDaemon daemon({download_of(1), paused, finished, moving});
  CHECK(daemon.list->opens(id_of(1)));
  CHECK_FALSE(daemon.list->opens(id_of(2)));
  CHECK_FALSE(daemon.list->opens(id_of(3)));
  CHECK(daemon.list->opens(id_of(4)));
  CHECK_FALSE(daemon.list->opens(id_of(5)));
}

TEST_CASE("a content that waits for a place is not about to be opened") {
  const StartedDaemon daemon({download_of(1), download_of(2)}, {1, 0});
  CHECK(daemon.list->opens(id_of(1)));
  CHECK_FALSE(daemon.list->opens(id_of(2)));
}

TEST_CASE("a content that is paused or resumed is opened accordingly") {
  const StartedDaemon daemon({download_of(1)});
  REQUIRE(daemon.list->pause(id_of(1).text()).ok());
  CHECK_FALSE(daemon.list->opens(id_of(1)));
  REQUIRE(daemon.list->resume(id_of(1).text(), false).ok());
  CHECK(daemon.list->opens(id_of(1)));
}

// A content of a stranger, who chose its name.
KeptContent stranger_called(const std::string& name, std::uint8_t fill = 0) {
  Info info = test::sample_info();
  info.name = name;
  info.generation_digests.front().bytes[0] ^= fill;
  const Manifest manifest = make_manifest(info, {}).value();
  KeptContent content = download_of(9);
  content.id = manifest.id;
  content.link = to_text(Link{manifest.id, {}, {}, {}, {}});
  content.manifest.assign(manifest.file_bytes.begin(), manifest.file_bytes.end());
  return content;
}

bool has(const StartedDaemon& daemon, const ContentId& id) {
  return daemon.list->show(id.text()).ok();
}

TEST_CASE("as much of an id as is shown goes before a stranger's content of that name") {
  const std::string shown = id_of(1).short_text();
  const StartedDaemon daemon({stranger_called(shown), download_of(1)});
  CHECK(daemon.list->show(shown)->at("content_id") == id_of(1).text());
  CHECK(daemon.list->show(id_of(1).text())->at("content_id") == id_of(1).text());
}

TEST_CASE("a few letters that begin an id and are another content's name are refused with both") {
  const std::string letters = id_of(1).text().substr(0, 4);
  const KeptContent stranger = stranger_called(letters);
  const StartedDaemon daemon({download_of(1), stranger});
  const auto removed = daemon.list->remove(letters, true);
  REQUIRE_FALSE(removed.ok());
  CHECK(removed.error().code == ErrorCode::kBadInput);
  for (const std::string& told : {id_of(1).text(), stranger.id.text(), "'" + letters + "'"})
    CHECK(removed.error().detail.find(told) != std::string::npos);
  CHECK(has(daemon, id_of(1)));
  CHECK(has(daemon, stranger.id));
}

TEST_CASE("a name of two contents is refused with both, and one of a single content is enough") {
  const KeptContent stranger = stranger_called("holiday", 1);
  const KeptContent other = stranger_called("holiday", 2);
  const StartedDaemon daemon({stranger, other, stranger_called("a", 3)});
  CHECK(daemon.list->show("a")->at("name") == "a");
  const auto both = daemon.list->show("holiday");
  REQUIRE_FALSE(both.ok());
  CHECK(both.error().detail.find(stranger.id.text()) != std::string::npos);
  CHECK(both.error().detail.find(other.id.text()) != std::string::npos);
}

TEST_CASE("a private content's id alone tells nothing, also before it is opened") {
  KeptContent secret = download_of(1);
  secret.link = to_text(Link{secret.id, {}, {}, {}, ContentSecret::generate()});
  const StartedDaemon daemon({secret});
  CHECK_FALSE(daemon.list->opens(id_of(1)));
}

}  // namespace
}  // namespace firn::app
