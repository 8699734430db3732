// Contents that cannot be opened for a while.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <fstream>

#include "../temp_folder.h"
#include "client/app/driver/peer_driver.h"
#include "client/content/create.h"

namespace firn::app {
namespace {

// The soft limit of descriptors, as it was when this is gone.
class DescriptorLimit {
 public:
  DescriptorLimit() { REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0); }
  ~DescriptorLimit() { lift(); }
  void set(rlim_t soft) {
    const rlimit limit{soft, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  }
  void lift() { (void)::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_CASE("a content that finds no descriptors is opened when there are some again") {
  const tests::TempFolder folder;
  std::ofstream(folder.path() + "/file") << "some bytes";
  auto manifest = content::create_manifest(folder.path() + "/file", {});
  REQUIRE(manifest.ok());
  const auto console = Console::open(ConsoleOptions()).value();
  DriverOptions options;
  options.listen = Address{{}, "127.0.0.1", 0};
  options.codec = CodecMode::kCpu;
  options.threads = 1;
  const auto driver = PeerDriver::start(options, *console).value();
  SessionPlan plan;
  plan.mode = SessionPlan::Mode::kServe;
  plan.content_id = manifest->id;
  plan.manifest = *manifest;
  plan.dir = folder.path();
  ContentSession& session = driver->add(std::move(plan));
  DescriptorLimit limit;
  limit.set(0);
  int turns = 0;
  driver->on_turn([&](core::TimeUs now) {
    if (++turns == 3) limit.lift();
    if (session.running()) driver->stop();
    return now + core::kSecond / 10;
  });
  CHECK(driver->run() == ExitCode::kOk);
  CHECK_FALSE(session.outcome().failure.has_value());
}

}  // namespace
}  // namespace firn::app
