// One host of a push, played by hand: what it says, and when.
#include "client/app/push/host_push.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

namespace firn::app {
namespace {

using core::kSecond;

const std::string kHello = "firn-push 1 x86_64 2.36 1.2.3\n";
const std::string kStart = "firn-push start\n";

std::string control(const std::string& json) {
  return push_frame(PushFrameKind::kControl, json);
}

// A host, the time, and what came of the steps.
struct Stage {
  explicit Stage(const PushPlan& the_plan) : plan(the_plan), host(plan, {"node1", "/data"}) {
    plan.version = "1.2.3";
    host.started(now);
  }
  Stage() : Stage(PushPlan{}) {}

  void hears(const std::string& bytes) {
    host.output(bytes, now);
    take();
  }
  void take() {
    for (PushStep& step : host.take_steps()) {
      if (auto* write = std::get_if<WriteInput>(&step)) written += *write->bytes;
      if (auto* tell = std::get_if<TellOthers>(&step)) told = tell->endpoint;
      if (auto* call = std::get_if<CallPeer>(&step)) called = call->endpoint;
      tunnel |= std::holds_alternative<OpenTunnel>(step);
      if (auto* given = std::get_if<GiveTunnel>(&step)) through += given->frame.payload;
      if (auto* end = std::get_if<EndSsh>(&step)) end->at_once ? killed = true : ended = true;
    }
  }
  // Time passes, with the wake-ups that it asks for.
  void pass(core::TimeUs span) {
    const core::TimeUs until = now + span;
    while (host.next_wake() <= until) {
      now = std::max(now, host.next_wake());
      host.wake(now);
      take();
    }
    now = until;
  }
  // As far as a download that goes on.
  void begin() {
    hears(kHello + kStart);
    hears(control(R"({"ready":4711,"peer":")" + peer.text() + R"(","address":"192.0.2.7"})"));
    written.clear();
  }
  // The last control frame that it was sent.
  Json last_said() const {
    PushFrameReader reader;
    reader.feed(written);
    Json last;
    for (auto next = reader.next(); next.ok() && *next; next = reader.next())
      last = Json::parse((*next)->payload);
    return last;
  }
  const HostRow& row() const { return host.row(); }

  PushPlan plan;
  HostPush host;
  core::TimeUs now = 1000 * kSecond;
  PeerId peer = *PeerId::from_bytes(std::string(32, 'p'));
  std::string written, through;
  std::optional<proto::PeerEndpoint> told, called;
  bool tunnel = false, ended = false, killed = false;
};

TEST_CASE("a host with this firn is told to run it, and gets its order once that runs") {
  PushPlan plan;
  plan.order.link = "firn:secret";
  Stage stage(plan);
  CHECK(stage.row().state == HostState::kConnecting);
  stage.hears("Welcome!\nno newline here\n" + kHello);
  CHECK(stage.row().state == HostState::kStarting);
  CHECK(stage.written == "run\n");
  stage.written.clear();
  stage.hears(kStart);
  CHECK(stage.row().state == HostState::kReceiving);
  const Json order = stage.last_said();
  CHECK(order["link"] == "firn:secret");
  CHECK(order["dir"] == "/data");
}

TEST_CASE("a host's progress is shown, and it is done when it says so") {
  Stage stage;
  stage.begin();
  CHECK_FALSE(stage.host.logs_in());
  stage.hears(control(R"({"progress":{"done":30,"total":100,"rate":7.5,"peers":1,"reason":"x"}})"));
  CHECK(stage.row().done == 30);
  CHECK(stage.row().total == 100);
  CHECK(stage.row().rate == 7.5);
  CHECK(stage.row().reason == "x");
  stage.now += 4 * kSecond;
  stage.hears(control(R"({"complete":true})"));
  CHECK(stage.row().state == HostState::kComplete);
  CHECK(stage.row().done == 100);
  CHECK(stage.row().seconds == 4);
  stage.host.ended(0, 0, stage.now);
  CHECK(stage.row().code == 0);
  CHECK(stage.row().state == HostState::kComplete);
}

TEST_CASE("everything comes one byte at a time") {
  Stage stage;
  const std::string all = "motd\n" + kHello + kStart +
                          control(R"({"ready":4711,"peer":")" + stage.peer.text() + R"("})") +
                          control(R"({"complete":true})");
  for (const char byte : all) stage.hears(std::string(1, byte));
  CHECK(stage.row().state == HostState::kComplete);
}

TEST_CASE("a host without firn fails with what to do, or gets the program") {
  const std::string none = "firn-push 1 x86_64 2.36 -\n";
  SUBCASE("there is nothing to install") {
    Stage stage;
    stage.hears(none);
    CHECK(stage.row().state == HostState::kFailed);
    CHECK(stage.row().reason.find("--install") != std::string::npos);
    CHECK(stage.ended);
  }
  PushPlan plan;
  plan.program = PushProgram{"d1gest", std::make_shared<const std::string>("ARCHIVE"),
                             [](const std::string& machine, const std::string& glibc) {
                               return machine == "x86_64" && glibc == "2.36" ? "" : "unfit";
                             }};
  SUBCASE("it has been installed before") {
    Stage stage(plan);
    stage.hears(none);
    CHECK(stage.written == "cached d1gest\n");
    stage.hears(kStart);
    CHECK(stage.row().state == HostState::kReceiving);
  }
  SUBCASE("it is copied") {
    Stage stage(plan);
    stage.hears(none + "firn-push install\n");
    CHECK(stage.written == "cached d1gest\ninstall 7 d1gest\nARCHIVE");
  }
  SUBCASE("another firn is there: it gets this one") {
    Stage stage(plan);
    stage.hears("firn-push 1 x86_64 2.36 0.9\n");
    CHECK(stage.written == "cached d1gest\n");
  }
  SUBCASE("it does not run there") {
    Stage stage(plan);
    stage.hears("firn-push 1 riscv64 2.36 -\n");
    CHECK(stage.row().reason == "unfit");
  }
  SUBCASE("installing fails there") {
    Stage stage(plan);
    stage.hears(none + "firn-push failed cannot install: no space\n");
    CHECK(stage.row().reason == "cannot install: no space");
  }
}

TEST_CASE("another firn that does not start is the reason") {
  Stage stage;
  stage.hears("firn-push 1 x86_64 2.36 0.9\n");
  CHECK(stage.written == "run\n");
  stage.hears(kStart);
  stage.host.errors("firn: no such thing\n");
  stage.host.ended(2, 0, stage.now);
  CHECK(stage.row().state == HostState::kFailed);
  CHECK(stage.row().reason.find("0.9") != std::string::npos);
  CHECK(stage.row().code == 2);
  CHECK(stage.row().last == "firn: no such thing");
}

TEST_CASE("a login that gets no further has failed; one that goes on has not") {
  Stage stage;
  stage.pass(29 * kSecond);
  CHECK(stage.row().state == HostState::kConnecting);
  SUBCASE("no answer") {
    stage.pass(2 * kSecond);
    CHECK(stage.row().reason == "no login within 30s");
    CHECK(stage.ended);
    stage.pass(HostPush::kEndTime);
    CHECK(stage.killed);
  }
  SUBCASE("the program is still on its way there") {
    stage.hears(kHello);
    for (int i = 0; i < 100; ++i) {
      stage.pass(20 * kSecond);
      stage.host.took_input(stage.now);
    }
    CHECK(stage.row().state == HostState::kStarting);
    stage.pass(31 * kSecond);
    CHECK(stage.row().reason == "firn did not start there within 30s");
  }
}

TEST_CASE("a download without progress fails only if there is a limit") {
  PushPlan plan;
  SUBCASE("none") {
    Stage stage(plan);
    stage.begin();
    stage.pass(100'000 * kSecond);
    CHECK(stage.row().state == HostState::kReceiving);
  }
  SUBCASE("a limit") {
    plan.timeout = 60 * kSecond;
    Stage stage(plan);
    stage.begin();
    for (int i = 1; i < 5; ++i) {
      stage.pass(50 * kSecond);
      stage.hears(control(R"({"progress":{"done":)" + std::to_string(i) +
                          R"(,"total":9,"reason":"nobody sends"}})"));
    }
    CHECK(stage.row().state == HostState::kReceiving);
    stage.pass(66 * kSecond);
    CHECK(stage.row().reason == "nothing came within 1m00s: nobody sends");
  }
}

TEST_CASE("a host that does not call is called, then gets a tunnel") {
  Stage stage;
  stage.begin();
  REQUIRE(stage.told);
  CHECK(*stage.told == proto::PeerEndpoint{stage.peer, "192.0.2.7", 4711});
  CHECK_FALSE(stage.called);
  SUBCASE("it is connected at once") {
    stage.host.connected("192.0.2.7:39000", "");
    CHECK(stage.row().way == "it called");
    stage.pass(60 * kSecond);
    CHECK_FALSE(stage.called);
    CHECK_FALSE(stage.tunnel);
  }
  SUBCASE("it is not") {
    stage.pass(HostPush::kCallAfter);
    CHECK(stage.called == stage.told);
    CHECK_FALSE(stage.tunnel);
    stage.pass(HostPush::kTunnelAfter);
    CHECK(stage.tunnel);
    CHECK(stage.last_said()["tunnel"] == true);
    stage.host.connected("192.0.2.7:4711", "127.0.0.1:39000");
    CHECK(stage.row().way == "called it");
    stage.host.connected("127.0.0.1:39000", "127.0.0.1:39000");
    CHECK(stage.row().way == "through ssh");
    stage.hears(push_frame(PushFrameKind::kTunnel, "bytes"));
    CHECK(stage.through == "bytes");
    CHECK(stage.row().state == HostState::kReceiving);
  }
  SUBCASE("others send to it for a while") {
    for (int i = 1; i < 10; ++i) {
      stage.pass(4 * kSecond);
      stage.hears(control(R"({"progress":{"done":)" + std::to_string(i) + R"(,"total":99}})"));
    }
    CHECK_FALSE(stage.tunnel);
    stage.pass(HostPush::kTunnelAfter);
    CHECK(stage.tunnel);
  }
}

TEST_CASE("a host that is asked to end may take ten seconds") {
  Stage stage;
  stage.begin();
  stage.hears(control(R"({"complete":true})"));
  stage.host.end(stage.now);
  stage.take();
  CHECK(stage.last_said()["end"] == true);
  CHECK_FALSE(stage.ended);
  SUBCASE("it ends") {
    stage.host.ended(0, 0, stage.now);
    stage.pass(60 * kSecond);
    CHECK_FALSE(stage.killed);
  }
  SUBCASE("it does not") {
    stage.pass(HostPush::kEndTime);
    CHECK(stage.killed);
  }
  CHECK(stage.row().state == HostState::kComplete);
}

// --- hostile remotes ---

TEST_CASE("a remote that never answers as firn costs its own place alone") {
  const std::string answers[] = {
      std::string(100'000, 'x'),
      std::string(70'000, '\n'),
      kHello + kStart + "hello",
      kHello + kStart + std::string("\1\xff\xff\xff\xff", 5),
      kHello + kStart + control("no json"),
      kHello + kStart + control("[1]"),
      kHello + kStart + control(R"({"ready":0,"peer":"x"})"),
      kHello + kStart + control(R"({"ready":4711.5,"peer":")" + std::string(52, 'a') + R"("})"),
      kHello + kStart + push_frame(PushFrameKind::kTunnel, "nobody asked"),
      kHello + "firn-push install\n",
  };
  for (const std::string& answer : answers) {
    CAPTURE(answer.substr(0, 80));
    Stage stage;
    stage.hears(answer);
    CHECK(stage.row().state == HostState::kFailed);
    CHECK(stage.ended);
    stage.hears(answer);
    CHECK(stage.host.take_steps().empty());
  }
}

TEST_CASE("figures and texts of a remote are bounded") {
  Stage stage;
  stage.begin();
  stage.hears(control(R"({"progress":{"done":1e300,"total":1e300,"rate":-5,"peers":1e99}})"));
  CHECK(stage.row().done <= stage.row().total);
  CHECK(stage.row().rate == 0);
  stage.hears(control(R"({"progress":{"done":5,"total":2,"rate":1e300,"reason":")" +
                      std::string(60'000, 'r') + R"("}})"));
  CHECK(stage.row().done == 2);
  CHECK(stage.row().reason.size() <= 500);
  stage.host.errors(std::string(1 << 20, 'e'));
  for (int i = 0; i < 1000; ++i) stage.host.errors("line\n");
  stage.host.ended(1, 0, stage.now);
  CHECK(stage.row().reason.size() <= 500);
  CHECK(stage.row().last.size() <= 500);
}

TEST_CASE("what a remote names as its address is called only if it is one") {
  for (const char* name : {"-oProxyCommand=x", "example.org", "192.0.2.7:22", "fe80::1%eth0", ""}) {
    CAPTURE(name);
    Stage stage;
    stage.hears(kHello + kStart);
    stage.hears(control(R"({"ready":22,"peer":")" + stage.peer.text() + R"(","address":")" + name +
                        R"("})"));
    stage.pass(HostPush::kCallAfter);
    CHECK_FALSE(stage.called);
    CHECK(stage.row().state == HostState::kReceiving);
  }
}

TEST_CASE("a complete host stays complete, whatever it says later") {
  Stage stage;
  stage.begin();
  stage.hears(control(R"({"complete":true})"));
  stage.hears("garbage");
  CHECK(stage.row().state == HostState::kComplete);
  CHECK(stage.ended);
}

}  // namespace
}  // namespace firn::app
