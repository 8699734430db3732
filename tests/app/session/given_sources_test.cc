// When the addresses given by hand leave nothing to hope for.
#include "client/app/session/given_sources.h"

#include <doctest/doctest.h>

#include <vector>

namespace firn::app {
namespace {

struct Life final : LifeEvents {
  std::vector<std::string> last_wrong;  // of each time that all were

  void manifest_arrived(Manifest) override {}
  void store_opened(Result<OpenedStore>) override {}
  void store_finished() override {}
  void store_spoiled(const Error&) override {}
  void all_sources_wrong(const std::string& source) override { last_wrong.push_back(source); }
  void core_finished() override {}
};

const Address kTracker{{}, "192.0.2.1", 4711};
const Address kPeer{{}, "192.0.2.2", 4711};

core::Options both() {
  core::Options options;
  options.trackers = {kTracker};
  options.peers = {kPeer};
  return options;
}

TEST_CASE("sources are all wrong when each has proved another identity") {
  Life life;
  GivenSources sources(both(), life);
  sources.tracker_heard(kTracker, true);
  CHECK(life.last_wrong.empty());
  sources.peer_heard(kPeer, true);
  CHECK(life.last_wrong == std::vector<std::string>{"peer 192.0.2.2:4711"});
}

TEST_CASE("a source that answers as itself is not wrong any more") {
  Life life;
  GivenSources sources(both(), life);
  sources.tracker_heard(kTracker, true);
  sources.tracker_heard(kTracker, false);
  sources.peer_heard(kPeer, true);
  CHECK(life.last_wrong.empty());
  sources.tracker_heard(kTracker, true);
  CHECK(life.last_wrong == std::vector<std::string>{"tracker 192.0.2.1:4711"});
}

TEST_CASE("a peer that was not given by hand counts for nothing") {
  Life life;
  core::Options options;
  options.peers = {kPeer};
  GivenSources sources(options, life);
  sources.peer_heard({{}, "192.0.2.9", 4711}, true);
  CHECK(life.last_wrong.empty());
  sources.peer_heard(kPeer, true);
  CHECK(life.last_wrong.size() == 1);
}

}  // namespace
}  // namespace firn::app
