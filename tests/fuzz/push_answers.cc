// Whatever a host of firn push says on standard output and error, and in whatever pieces: what is
// kept of it is bounded, and its state only goes on.
#include <string>
#include <string_view>
#include <variant>

#include "client/app/push/host_push.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::push_answers {
using namespace firn::app;

namespace {

constexpr std::size_t kShownMax = 500;

void check(const HostRow& row, HostState before) {
  FIRN_CHECK(row.state >= before);
  FIRN_CHECK(row.done <= row.total && row.rate >= 0);
  FIRN_CHECK(row.reason.size() <= kShownMax && row.last.size() <= kShownMax);
  FIRN_CHECK(row.state != HostState::kFailed || !row.reason.empty());
}

HostState play(std::string_view said, std::size_t piece) {
  PushPlan plan;
  plan.version = "0.1.0";
  plan.program = PushProgram{"digest", std::make_shared<const std::string>("archive"),
                             [](const std::string&, const std::string&) { return ""; }};
  HostPush host(plan, {"host", "dir"});
  core::TimeUs now = core::kSecond;
  host.started(now);
  while (!said.empty()) {
    const HostState before = host.row().state;
    host.errors(said.substr(0, piece));
    host.output(said.substr(0, piece), now);
    said.remove_prefix(std::min(piece, said.size()));
    for (const PushStep& step : host.take_steps())
      if (const auto* tell = std::get_if<TellOthers>(&step))
        FIRN_CHECK(tell->endpoint.port != 0 && tell->endpoint.ip.size() < 46);
    check(host.row(), before);
  }
  const HostState state = host.row().state;
  host.ended(1, 0, now);
  check(host.row(), state);
  FIRN_CHECK(host.done());
  return state;
}

}  // namespace

FIRN_FUZZ_TARGET(push_answers) {
  const std::string_view said(reinterpret_cast<const char*>(data), size);
  const HostState whole = play(said, size + 1);
  FIRN_CHECK(play(said, 7) == whole);
  return 0;
}

}  // namespace firn::fuzz::push_answers
