// Whatever a line asks of the daemon, the answer is one line of JSON: a result or an error, and at
// most one method is called, with texts that can be paths.
#include <nlohmann/json.hpp>
#include <string>

#include "client/app/daemon/rpc.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::rpc {
using namespace firn::app;

namespace {

struct CountingMethods final : DaemonMethods {
  int calls = 0;

  Result<Json> called(const std::string& text) {
    ++calls;
    FIRN_CHECK(!text.empty() && text.find('\0') == std::string::npos);
    if (text.size() % 2 == 0) return Error{ErrorCode::kNotFound, "find " + text, "it is not here"};
    return Json{{"text", text}};
  }
  Result<Json> add(const AddRequest& request) override {
    FIRN_CHECK(!request.seeding.empty());
    for (const std::string& origin : request.origins)
      FIRN_CHECK(!origin.empty() && origin.find('\0') == std::string::npos);
    return called(request.source);
  }
  Result<Json> list() override { return called("list"); }
  Result<Json> show(const std::string& which) override { return called(which); }
  Result<Json> peers(const std::string& which) override { return called(which); }
  Result<Json> files(const std::string& which, const content::FileChoice& choice) override {
    for (const content::FileRule& rule : choice.rules())
      FIRN_CHECK(content::check_file_rule(rule).ok());
    return called(which);
  }
  Result<Json> pause(const std::string& which) override { return called(which); }
  Result<Json> resume(const std::string& which, bool) override { return called(which); }
  Result<Json> remove(const std::string& which, bool) override { return called(which); }
  Result<Json> limit(const std::string& which, const LimitChange& change) override {
    FIRN_CHECK(change.up.value_or(0) >= LimitValues::kUnset);
    return called(which.empty() ? "limit" : which);
  }
  Result<Json> prioritize(const std::string& which, const std::string& priority) override {
    return called(which + priority);
  }
  Result<Json> queue(const std::string& which, const std::string& to) override {
    return called(which + to);
  }
  Result<Json> status() override { return called("status"); }
  Result<Json> move(const std::string& which, const std::string& folder,
                    const std::string&) override {
    FIRN_CHECK(!folder.empty());
    return called(which);
  }
  Result<Json> watch(const std::string& folder, const std::string& output) override {
    FIRN_CHECK(!output.empty());
    return called(folder);
  }
  Result<Json> watches() override { return called("watches"); }
  Result<Json> unwatch(const std::string& folder) override { return called(folder); }
  Result<Json> play(const std::string&) override { return called("play"); }
  Result<std::string> stream_url(const std::string&, const std::string&,
                                 const std::string&) override {
    return std::string();
  }
  Result<Json> page() override { return called("page"); }
  Result<Json> stop() override { return called("stop"); }
};

}  // namespace

FIRN_FUZZ_TARGET(rpc) {
  CountingMethods methods;
  const std::string answer = answer_rpc({reinterpret_cast<const char*>(data), size}, methods);
  FIRN_CHECK(methods.calls <= 1);
  if (answer.empty()) return 0;
  FIRN_CHECK(answer.find('\n') == std::string::npos);
  const Json read = Json::parse(answer, nullptr, false);
  FIRN_CHECK(read.is_object() && read["jsonrpc"] == "2.0" && read.contains("id"));
  FIRN_CHECK(read.contains("result") != read.contains("error"));
  FIRN_CHECK(methods.calls == 1 || read.contains("error") || read["result"].contains("version"));
  return 0;
}

}  // namespace firn::fuzz::rpc
