#include "client/app/daemon/rpc.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace firn::app {
namespace {

// Notes what it is asked, and answers it.
struct Recorder final : DaemonMethods {
  std::vector<std::string> asked;
  std::optional<Error> failure;

  Result<Json> note(const std::string& what) {
    asked.push_back(what);
    if (failure) return *failure;
    return Json{{"done", what}};
  }
  Result<Json> add(const AddRequest& r) override {
    std::string origins;
    for (const std::string& origin : r.origins) origins += " from " + origin;
    return note("add " + r.source + " " + r.folder + " " + r.seeding + (r.serve ? " serve" : "") +
                (r.trust ? " trust" : "") + (r.as.empty() ? "" : " as " + r.as) +
                (r.overwrite ? " overwrite" : "") + (r.repair ? " repair" : "") +
                (r.paused ? " paused" : "") + (r.link.empty() ? "" : " link " + r.link) +
                (r.no_origin ? " no origin" : "") + origins);
  }
  Result<Json> list() override { return note("list"); }
  Result<Json> show(const std::string& which) override { return note("show " + which); }
  Result<Json> peers(const std::string& which) override { return note("peers " + which); }
  Result<Json> files(const std::string& which, const content::FileChoice& choice) override {
    std::string what = "files " + which;
    for (const std::string& rule : choice.texts()) what += " " + rule;
    return note(what);
  }
  Result<Json> pause(const std::string& which) override { return note("pause " + which); }
  Result<Json> resume(const std::string& which, bool afresh) override {
    return note("resume " + which + (afresh ? " afresh" : ""));
  }
  Result<Json> remove(const std::string& which, bool delete_data) override {
    return note("remove " + which + (delete_data ? " with data" : ""));
  }
  Result<Json> limit(const std::string& which, const LimitChange& change) override {
    std::string what = "limit " + which;
    const auto tell = [&what](const char* name, const std::optional<std::int64_t>& value) {
      if (value) what += " " + std::string(name) + "=" + std::to_string(*value);
    };
    tell("up", change.up);
    tell("down", change.down);
    tell("ratio", change.seed_ratio);
    tell("time", change.seed_seconds);
    return note(what);
  }
  Result<Json> prioritize(const std::string& which, const std::string& priority) override {
    return note("priority " + which + " " + priority);
  }
  Result<Json> queue(const std::string& which, const std::string& to) override {
    return note("queue " + which + " " + to);
  }
  Result<Json> status() override { return note("status"); }
  Result<Json> move(const std::string& which, const std::string& folder,
                    const std::string& as) override {
    return note("move " + which + " to " + folder + (as.empty() ? "" : " as " + as));
  }
  Result<Json> watch(const std::string& folder, const std::string& output) override {
    return note("watch " + folder + " for " + output);
  }
  Result<Json> watches() override { return note("watches"); }
  Result<Json> unwatch(const std::string& folder) override { return note("unwatch " + folder); }
  Result<std::string> stream_url(const std::string&, const std::string&,
                                 const std::string&) override {
    return std::string();
  }
  Result<Json> play(const std::string& which) override { return note("play " + which); }
  Result<Json> page() override { return note("page"); }
  Result<Json> stop() override { return note("stop"); }
};

Json parsed(const std::string& answer) {
  CHECK(answer.find('\n') == std::string::npos);
  return Json::parse(answer);
}

int code_of(const std::string& line) {
  Recorder methods;
  const Json answer = parsed(answer_rpc(line, methods));
  CHECK(methods.asked.empty());
  CHECK_FALSE(answer.contains("result"));
  return answer["error"]["code"].get<int>();
}

std::string called(const std::string& method, const std::string& params) {
  Recorder methods;
  const Json answer = parsed(answer_rpc(
      R"({"jsonrpc":"2.0","id":7,"method":")" + method + R"(","params":)" + params + "}", methods));
  CHECK(answer["id"] == 7);
  CHECK(answer["jsonrpc"] == "2.0");
  if (!answer.contains("result")) return answer["error"]["message"].get<std::string>();
  REQUIRE(methods.asked.size() == 1);
  CHECK(answer["result"]["done"] == methods.asked.front());
  return methods.asked.front();
}

TEST_CASE("the methods are told with the names of their parameters") {
  Recorder recorder;
  const Json answer =
      parsed(answer_rpc(R"({"jsonrpc":"2.0","id":1,"method":"methods"})", recorder));
  const Json methods = answer["result"]["methods"];
  CHECK(methods["remove"] == Json({"content", "delete_data"}));
  CHECK(methods["version"] == Json::array());
  CHECK(methods.contains("methods"));
  CHECK(recorder.asked.empty());
}

TEST_CASE("a limit is a number, or a word for none or for the default") {
  for (const char* wrong : {"-1", "1e16", "\"much\"", "true", "null", "[]", "0.0001"})
    CHECK(code_of(std::string(R"({"jsonrpc":"2.0","id":1,"method":"limit","params":{"up":)") +
                  wrong + "}}") == -32602);
}

TEST_CASE("values nested as deep as a line is long are refused, and cost no stack") {
  const std::string deep = std::string(30'000, '[') + std::string(30'000, ']');
  CHECK(code_of(R"({"jsonrpc":"2.0","id":1,"method":"list","params":)" + deep + "}") == -32600);
  CHECK(code_of(deep) == -32600);
  CHECK(code_of(std::string(60'000, '[')) == -32600);
}

TEST_CASE("a request of very many members is refused") {
  std::string line = R"({"jsonrpc":"2.0","id":1,"method":"list","params":{)";
  for (int i = 0; i < 6000; ++i) line += "\"" + std::to_string(i) + "\":1,";
  CHECK(code_of(line + "\"x\":1}}") == -32602);
}

TEST_CASE("each method is called with its parameters, and answered with its result") {
  CHECK(called("add", R"({"source":"firn:x","folder":"/a"})") == "add firn:x /a forever");
  CHECK(called("limit", R"({"content":"c","up":1000,"down":"none"})") == "limit c up=1000 down=0");
  CHECK(called("limit", R"({"up":"default","seed_ratio":1.5,"seed_time":60})") ==
        "limit  up=-1 ratio=1500 time=60");
  CHECK(called("status", "{}") == "status");
  CHECK(called("priority", R"({"content":"c","priority":"high"})") == "priority c high");
  CHECK(called("queue", R"({"content":"c","to":"up"})") == "queue c up");
  CHECK(called("add", R"({"source":"firn:x"})") == "add firn:x  forever");
  CHECK(called("add", R"({"source":"/x","folder":"/a","serve":true,"seeding":"1h"})") ==
        "add /x /a 1h serve");
  CHECK(called("add", R"({"source":"/x","folder":"/a","serve":true,"trust":true,"link":"l"})") ==
        "add /x /a forever serve trust link l");
  CHECK(called("add", R"({"source":"/x","as":"y","overwrite":true,"repair":true,"paused":true})") ==
        "add /x  forever as y overwrite repair paused");
  CHECK(called("add", R"({"source":"/x","origins":["http://a/","s3://b/c"]})") ==
        "add /x  forever from http://a/ from s3://b/c");
  CHECK(called("add", R"({"source":"/x","no_origin":true})") == "add /x  forever no origin");
  CHECK(called("files", R"({"content":"c"})") == "files c");
  CHECK(called("files", R"({"content":"c","files":["skip:*.mkv","select:1,3"]})") ==
        "files c skip:*.mkv select:1,3");
  CHECK(called("list", "{}") == "list");
  CHECK(called("list", "null") == "list");
  CHECK(called("show", R"({"content":"x"})") == "show x");
  CHECK(called("peers", R"({"content":"x"})") == "peers x");
  CHECK(called("pause", R"({"content":"x"})") == "pause x");
  CHECK(called("resume", R"({"content":"x"})") == "resume x");
  CHECK(called("resume", R"({"content":"x","afresh":true})") == "resume x afresh");
  CHECK(called("remove", R"({"content":"x"})") == "remove x");
  CHECK(called("remove", R"({"content":"x","delete_data":true})") == "remove x with data");
  CHECK(called("move", R"({"content":"x","folder":"/a"})") == "move x to /a");
  CHECK(called("move", R"({"content":"x","folder":"/a","as":"y"})") == "move x to /a as y");
  CHECK(called("watch", R"({"folder":"/a","output":"/b"})") == "watch /a for /b");
  CHECK(called("watch", R"({"folder":"/a"})") == "watch /a for ");
  CHECK(called("watches", "{}") == "watches");
  CHECK(called("page", "{}") == "page");
  CHECK(called("play", R"({"content": "x"})") == "play x");
  CHECK(called("unwatch", R"({"folder":"/a"})") == "unwatch /a");
  CHECK(called("stop", "{}") == "stop");
}

TEST_CASE("what is wrong with parameters is named, and nothing is done") {
  CHECK(called("list", R"({"speed":1})") == "list: there is no parameter 'speed'");
  CHECK(called("show", "{}") == "show: the parameter 'content' is missing");
  CHECK(called("show", "null") == "show: the parameter 'content' is missing");
  CHECK(called("show", R"({"content":""})") == "show: 'content' must be a text that is not empty");
  CHECK(called("show", R"({"content":["x"]})") ==
        "show: 'content' must be a text that is not empty");
  CHECK(called("remove", R"({"content":"x","delete_data":1})") ==
        "remove: 'delete_data' must be true or false");
  CHECK(called("move", R"({"content":"x"})") == "move: the parameter 'folder' is missing");
  CHECK(called("show", R"({"content":"a\u0000b"})") ==
        "show: 'content' must not hold the character U+0000");
  CHECK(called("files", R"({"content":"x","files":"file:a"})") ==
        "files: 'files' must be a list of texts");
  CHECK(called("files", R"({"content":"x","files":[1]})") ==
        "files: 'files' must be a text that is not empty");
  CHECK(called("files", R"({"content":"x","files":["odd:a"]})").starts_with("files: 'files': "));
  CHECK(called("show", R"(["x"])") == "parameters are given by name, in an object");
}

TEST_CASE("what is no request is refused with the code that JSON-RPC has for it") {
  CHECK(code_of("") == -32700);
  CHECK(code_of("{") == -32700);
  CHECK(code_of("\xff") == -32700);
  CHECK(code_of(std::string(300'000, '[')) == -32600);
  CHECK(code_of(std::string(300'000, '[') + std::string(300'000, ']')) == -32600);
  CHECK(code_of("[]") == -32600);
  CHECK(code_of(R"([{"jsonrpc":"2.0","id":1,"method":"list"}])") == -32600);
  CHECK(code_of(R"("list")") == -32600);
  CHECK(code_of(R"({"id":1,"method":"list"})") == -32600);
  CHECK(code_of(R"({"jsonrpc":"1.0","id":1,"method":"list"})") == -32600);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":1})") == -32600);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":1,"method":7})") == -32600);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":[1],"method":"list"})") == -32600);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":1,"method":"list","parms":{}})") == -32600);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":1,"method":"List"})") == -32601);
}

TEST_CASE("a request without an id is carried out and not answered") {
  Recorder methods;
  CHECK(answer_rpc(R"({"jsonrpc":"2.0","method":"list"})", methods).empty());
  CHECK(methods.asked == std::vector<std::string>{"list"});
  CHECK(answer_rpc(R"({"jsonrpc":"2.0","method":"fly"})", methods).empty());
  CHECK(parsed(answer_rpc(R"({"jsonrpc":"2.0","id":"a","method":"list"})", methods))["id"] == "a");
  for (const std::string id : {"18446744073709551615", "18446744073709551616",
                               "-123456789012345678901234567890", "1.50", "\"1e3\"", "null"}) {
    CAPTURE(id);
    for (const char* method : {"list", "no such method"}) {
      const std::string line = R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + "\"}";
      CHECK(answer_rpc(line, methods).find("\"id\":" + id + ",") != std::string::npos);
    }
  }
}

TEST_CASE("a failure has the name of its code, and no secrets") {
  Recorder methods;
  const std::string secret(56, 'q');
  methods.failure =
      Error{ErrorCode::kDiskFull, "add firn:" + std::string(52, 'a') + "." + secret, "no space"};
  const Json answer =
      parsed(answer_rpc(R"({"jsonrpc":"2.0","id":1,"method":"list"})", methods))["error"];
  CHECK(answer["code"] == -32000);
  CHECK(answer["data"]["code"] == "disk_full");
  CHECK(answer["message"].get<std::string>().find("no space") != std::string::npos);
  CHECK(answer["message"].get<std::string>().find(secret) == std::string::npos);
}

TEST_CASE("a method or parameter that was taken for a link is answered without its secret") {
  const std::string secret(56, 'q');
  const std::string link = "firn:" + std::string(52, 'a') + "." + secret;
  CHECK(called(link, "{}").find(secret) == std::string::npos);
  CHECK(called("list", R"({")" + link + R"(":1})").find(secret) == std::string::npos);
}

}  // namespace
}  // namespace firn::app
