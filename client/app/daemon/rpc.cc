#include "client/app/daemon/rpc.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "client/app/version.h"
#include "proto/base/commit.h"
#include "proto/base/within_memory.h"
#include "proto/content/content_secret.h"

namespace firn::app {
namespace {

// What is asked; its members are found by search, unlike those of Json, and never copied as a tree.
using Request = nlohmann::json;

// A request needs 2: parameters within it. Deeper values cost stack where they are used.
constexpr int kDepthMax = 8;
// Every whole number up to it is one of a double's.
constexpr double kLimitMax = 9e15;

// What a request that cannot be carried out is answered.
struct Refusal {
  RpcError code;
  std::string message;
};

// The number that a request has for its id, as it was written: a double holds no id past 2^64.
class NumberAsWritten final : public nlohmann::json_sax<Request> {
 public:
  std::string text() && { return std::move(text_); }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string& written) override {
    if (depth_ == 1 && is_id_) text_ = written;
    return true;
  }
  bool string(std::string&) override { return true; }
  bool binary(Request::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ > 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool key(std::string& name) override {
    if (depth_ == 1) is_id_ = name == "id";
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  int depth_ = 0;
  bool is_id_ = false;
  std::string text_;
};

// The id of a request as JSON; null where it has none that can be repeated.
std::string id_of(const Request& request, std::string_view line) {
  const auto id = request.is_object() ? request.find("id") : request.end();
  if (!request.is_object() || id == request.end()) return "null";
  if (id->is_number_float()) {
    NumberAsWritten number;
    (void)Request::sax_parse(line, &number);
    return std::move(number).text();
  }
  const bool repeated = id->is_string() || id->is_number();
  return repeated ? id->dump(-1, ' ', false, Request::error_handler_t::replace) : "null";
}

// `id` as JSON; `name`: "result" or "error". A message may repeat what the caller wrote, in
// whatever bytes.
std::string answer(const std::string& id, const char* name, const Json& value) {
  return R"({"jsonrpc":"2.0","id":)" + id + ",\"" + name +
         "\":" + value.dump(-1, ' ', false, Json::error_handler_t::replace) + "}";
}

std::string refused(const std::string& id, const Refusal& refusal) {
  return answer(
      id, "error",
      {{"code", static_cast<int>(refusal.code)}, {"message", without_secrets(refusal.message)}});
}

std::string failed(const std::string& id, const Error& error) {
  return answer(id, "error",
                {{"code", static_cast<int>(RpcError::kFailed)},
                 {"message", without_secrets(error.message())},
                 {"data", {{"code", error_code_name(error.code)}}}});
}

// The parameters of a call; the first that is missing or of another type is noted. A method knows
// those that it asks for.
class Params {
 public:
  explicit Params(const Request& given) : given_(given) {}

  std::string text(const char* name) {
    const Request* const value = find(name);
    if (value == nullptr) return note(std::string("the parameter '") + name + "' is missing");
    return string_of(name, *value);
  }
  std::string text(const char* name, const std::string& otherwise) {
    const Request* const value = find(name);
    return value == nullptr ? otherwise : string_of(name, *value);
  }
  bool flag(const char* name) {
    const Request* const value = find(name);
    if (value == nullptr) return false;
    if (!value->is_boolean()) note(std::string("'") + name + "' must be true or false");
    return value->is_boolean() && value->get<bool>();
  }

  std::vector<std::string> texts(const char* name) {
    std::vector<std::string> texts;
    const Request* const value = find(name);
    if (value == nullptr) return texts;
    for (const Request& text : value->is_array() ? *value : Request::array())
      texts.push_back(string_of(name, text));
    if (!value->is_array()) note(std::string("'") + name + "' must be a list of texts");
    return texts;
  }

  // A list of rules, as FileChoice::texts().
  content::FileChoice choice(const char* name) {
    auto choice = content::FileChoice::from_texts(texts(name));
    if (!choice.ok()) note(std::string("'") + name + "': " + choice.error().message());
    return choice.ok() ? *std::move(choice) : content::FileChoice();
  }

  // The names of all that were asked for.
  const std::vector<std::string>& known() const { return known_; }

  // A number of `unit`s, 0 for none, "none" or "default".
  std::optional<std::int64_t> limit(const char* name, std::int64_t unit = 1) {
    const Request* const value = find(name);
    if (value == nullptr) return std::nullopt;
    if (*value == "none") return LimitValues::kNone;
    if (*value == "default") return LimitValues::kUnset;
    const double number = value->is_number() ? value->get<double>() : 0;
    const double parts = number * static_cast<double>(unit);
    if (value->is_number() && number == 0) return LimitValues::kNone;
    if (parts >= 1 && parts <= kLimitMax) return static_cast<std::int64_t>(parts);
    note(std::string("'") + name + R"(' must be a number, "none" or "default")");
    return std::nullopt;
  }

  // Empty: nothing is wrong with them. After all were asked for.
  std::string wrong() const {
    if (given_.is_null()) return wrong_;
    for (const auto& [name, value] : given_.items())
      if (std::ranges::find(known_, name) == known_.end())
        return "there is no parameter '" + name + "'";
    return wrong_;
  }

 private:
  const Request* find(const char* name) {
    known_.emplace_back(name);
    if (given_.is_null()) return nullptr;
    const auto found = given_.find(name);
    return found == given_.end() ? nullptr : &*found;
  }
  std::string string_of(const char* name, const Request& value) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty())
      return note(std::string("'") + name + "' must be a text that is not empty");
    auto text = value.get<std::string>();
    if (text.find('\0') != std::string::npos)
      return note(std::string("'") + name + "' must not hold the character U+0000");
    return text;
  }
  std::string note(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
    return {};
  }

  const Request& given_;  // an object, or null
  std::vector<std::string> known_;
  std::string wrong_;
};

using Call = std::function<Result<Json>()>;
struct Method {
  const char* name;
  // Reads the parameters; what it gives back is called if they are right.
  Call (*prepare)(Params& params, DaemonMethods& methods);
};

LimitChange limits_of(Params& params) {
  LimitChange change;
  change.up = params.limit("up");
  change.down = params.limit("down");
  change.seed_ratio = params.limit("seed_ratio", 1000);
  change.seed_seconds = params.limit("seed_time");
  return change;
}

Call prepare_add(Params& params, DaemonMethods& methods) {
  AddRequest request;
  request.source = params.text("source");
  request.folder = params.text("folder", request.folder);
  request.serve = params.flag("serve");
  request.seeding = params.text("seeding", request.seeding);
  request.link = params.text("link", request.link);
  request.trust = params.flag("trust");
  request.limits = limits_of(params);
  request.priority = params.text("priority", request.priority);
  request.as = params.text("as", request.as);
  request.overwrite = params.flag("overwrite");
  request.repair = params.flag("repair");
  request.paused = params.flag("paused");
  request.files = params.choice("files");
  request.origins = params.texts("origins");
  request.no_origin = params.flag("no_origin");
  return [request, &methods] { return methods.add(request); };
}

template <Result<Json> (DaemonMethods::*kDo)(const std::string&)>
Call prepare_one(Params& params, DaemonMethods& methods) {
  return [which = params.text("content"), &methods] { return (methods.*kDo)(which); };
}

Call prepare_files(Params& params, DaemonMethods& methods) {
  return [which = params.text("content"), choice = params.choice("files"), &methods] {
    return methods.files(which, choice);
  };
}

Call prepare_resume(Params& params, DaemonMethods& methods) {
  return [which = params.text("content"), afresh = params.flag("afresh"), &methods] {
    return methods.resume(which, afresh);
  };
}

Call prepare_remove(Params& params, DaemonMethods& methods) {
  return [which = params.text("content"), delete_data = params.flag("delete_data"), &methods] {
    return methods.remove(which, delete_data);
  };
}

Call prepare_limit(Params& params, DaemonMethods& methods) {
  return [which = params.text("content", ""), change = limits_of(params), &methods] {
    return methods.limit(which, change);
  };
}

Call prepare_move(Params& params, DaemonMethods& methods) {
  return [which = params.text("content"), folder = params.text("folder"),
          as = params.text("as", ""), &methods] { return methods.move(which, folder, as); };
}

Call prepare_watch(Params& params, DaemonMethods& methods) {
  return [folder = params.text("folder"), output = params.text("output", ""), &methods] {
    return methods.watch(folder, output);
  };
}

Call prepare_unwatch(Params& params, DaemonMethods& methods) {
  return [folder = params.text("folder"), &methods] { return methods.unwatch(folder); };
}

Json known_methods(DaemonMethods& methods);

constexpr Method kMethods[] = {
    {"add", prepare_add},
    {"list", [](Params&, DaemonMethods& m) -> Call { return [&m] { return m.list(); }; }},
    {"show", prepare_one<&DaemonMethods::show>},
    {"peers", prepare_one<&DaemonMethods::peers>},
    {"files", prepare_files},
    {"pause", prepare_one<&DaemonMethods::pause>},
    {"resume", prepare_resume},
    {"remove", prepare_remove},
    {"limit", prepare_limit},
    {"priority",
     [](Params& params, DaemonMethods& m) -> Call {
       return [which = params.text("content"), priority = params.text("priority"), &m] {
         return m.prioritize(which, priority);
       };
     }},
    {"queue",
     [](Params& params, DaemonMethods& m) -> Call {
       return [which = params.text("content"), to = params.text("to"), &m] {
         return m.queue(which, to);
       };
     }},
    {"status", [](Params&, DaemonMethods& m) -> Call { return [&m] { return m.status(); }; }},
    {"move", prepare_move},
    {"watch", prepare_watch},
    {"watches", [](Params&, DaemonMethods& m) -> Call { return [&m] { return m.watches(); }; }},
    {"unwatch", prepare_unwatch},
    {"play", prepare_one<&DaemonMethods::play>},
    {"page", [](Params&, DaemonMethods& m) -> Call { return [&m] { return m.page(); }; }},
    {"stop", [](Params&, DaemonMethods& m) -> Call { return [&m] { return m.stop(); }; }},
    {"version",
     [](Params&, DaemonMethods&) -> Call {
       return [] { return Result<Json>(Json{{"version", kVersion}, {"commit", build_commit()}}); };
     }},
    {"methods",
     [](Params&, DaemonMethods& m) -> Call {
       return [&m] { return Result<Json>(Json{{"methods", known_methods(m)}}); };
     }},
};

// Each with the names of its parameters: what it asks for is what it knows.
Json known_methods(DaemonMethods& methods) {
  Json known = Json::object();
  const Request none;
  for (const Method& method : kMethods) {
    Params params(none);
    (void)method.prepare(params, methods);
    known[method.name] = params.known();
  }
  return known;
}

// The members that a request may have; others are refused, so that a misspelt one is noticed.
std::string wrong_member(const Request& request) {
  for (const auto& [name, value] : request.items())
    if (name != "jsonrpc" && name != "id" && name != "method" && name != "params")
      return "there is no member '" + name + "' in a request";
  return {};
}

std::string wrong_request(const Request& request) {
  if (request.is_array()) return "batches are not taken: one request a line";
  if (!request.is_object()) return "a request is an object";
  const auto version = request.find("jsonrpc");
  if (version == request.end() || *version != "2.0") return "'jsonrpc' must be \"2.0\"";
  const auto method = request.find("method");
  if (method == request.end() || !method->is_string()) return "'method' must be a text";
  const auto id = request.find("id");
  if (id != request.end() && !id->is_string() && !id->is_number() && !id->is_null())
    return "'id' must be a text or a number";
  return wrong_member(request);
}

std::string carry_out(const Request& request, const std::string& id, DaemonMethods& methods) {
  const auto& name = request["method"].get_ref<const std::string&>();
  const auto* const method =
      std::ranges::find_if(kMethods, [&](const Method& known) { return name == known.name; });
  if (method == std::end(kMethods))
    return refused(id, {RpcError::kMethodNotFound, "there is no method '" + name + "'"});
  static const Request kNone;
  const auto params_at = request.find("params");
  const Request& given = params_at == request.end() ? kNone : *params_at;
  if (!given.is_null() && !given.is_object())
    return refused(id, {RpcError::kInvalidParams, "parameters are given by name, in an object"});
  Params params(given);
  const Call call = method->prepare(params, methods);
  if (const std::string wrong = params.wrong(); !wrong.empty())
    return refused(id, {RpcError::kInvalidParams, name + ": " + wrong});
  const Result<Json> result = within_memory(name, call);
  if (!result.ok()) return failed(id, result.error());
  return answer(id, "result", *result);
}

}  // namespace

std::string answer_rpc(std::string_view line, DaemonMethods& methods) {
  bool deep = false;
  const auto keep = [&deep](int depth, Request::parse_event_t, const Request&) {
    deep |= depth > kDepthMax;
    return !deep;
  };
  const Request request = Request::parse(line, keep, false);
  if (deep) return refuse_rpc(RpcError::kInvalidRequest, "its values are nested too deep");
  if (request.is_discarded()) return refuse_rpc(RpcError::kParse, "the line is no JSON");
  const std::string wrong = wrong_request(request);
  const std::string id = id_of(request, line);
  if (!wrong.empty()) return refused(id, {RpcError::kInvalidRequest, wrong});
  std::string answered = carry_out(request, id, methods);
  return request.contains("id") ? std::move(answered) : std::string();
}

std::string refuse_rpc(RpcError code, const std::string& why) {
  return refused("null", {code, why});
}

}  // namespace firn::app
