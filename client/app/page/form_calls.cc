#include "client/app/page/form_calls.h"

#include <utility>

#include "client/app/daemon/limit_texts.h"
#include "proto/base/percent.h"
#include "proto/web/form.h"

namespace firn::app {
namespace {

Error not_understood(const std::string& why) {
  return {ErrorCode::kBadInput, "take the form", why};
}

// What was typed, without the blanks around it.
std::string value_of(const web::Fields& fields, const char* name) {
  const std::string* const found = web::find_field(fields, name);
  if (found == nullptr) return "";
  const auto begin = found->find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return found->substr(begin, found->find_last_not_of(" \t\r\n") - begin + 1);
}

// Fields that are left empty change nothing.
Status add_limits(const web::Fields& fields, Json& params) {
  const auto limits = limits_of({value_of(fields, "up"), value_of(fields, "down"),
                                 value_of(fields, "seed_ratio"), value_of(fields, "seed_time")});
  if (!limits.ok()) return limits.error();
  if (limits->empty())
    return not_understood("all fields are empty: write what is to be changed, such as 1M or none");
  add_limit_params(*limits, params);
  return Done{};
}

Status add_folder(const web::Fields& fields, const char* field, Json& params) {
  const std::string folder = value_of(fields, field);
  if (folder.empty()) return not_understood("it names no folder");
  params[field] = folder;
  return Done{};
}

// The numbers of the boxes that were ticked (file_boxes()), or the patterns that stand for boxes of
// very many files, as the rules that name these files.
Status add_choice(const web::Fields& fields, Json& params) {
  constexpr std::string_view kBox = "file";
  std::string numbers;
  for (const auto& [name, value] : fields)
    if (name.starts_with(kBox)) numbers += (numbers.empty() ? "" : ",") + name.substr(kBox.size());
  Json rules = Json::array();
  if (!numbers.empty()) rules.push_back("select:" + numbers);
  for (const auto& [field, kind] : {std::pair("take", "file:"), std::pair("skip", "skip:")})
    if (const std::string pattern = value_of(fields, field); !pattern.empty())
      rules.push_back(kind + pattern);
  if (rules.empty()) return not_understood("no file is ticked or named");
  params["files"] = std::move(rules);
  return Done{};
}

// Adds what the action needs besides the content, and says which method it is.
Result<std::string> complete(const std::string& action, const web::Fields& fields, Json& params) {
  const bool of_content = params.contains("content");
  if (action == "limit") {
    if (const Status added = add_limits(fields, params); !added.ok()) return added.error();
    return action;
  }
  if (!of_content && (action == "watch" || action == "unwatch")) {
    if (const Status added = add_folder(fields, "folder", params); !added.ok())
      return added.error();
    if (action == "unwatch") return action;
    if (const std::string output = value_of(fields, "output"); !output.empty())
      params["output"] = output;
    return action;
  }
  if (!of_content) return not_understood("there is no such action");
  if (action == "pause" || action == "resume") return action;
  if (action == "remove" || action == "remove_data") {
    params["delete_data"] = action == "remove_data";
    return std::string("remove");
  }
  if (action == "priority") {
    params["priority"] = value_of(fields, "priority");
    return action;
  }
  if (action == "queue") {
    params["to"] = value_of(fields, "to");
    return action;
  }
  if (action == "files") {
    if (const Status added = add_choice(fields, params); !added.ok()) return added.error();
    return action;
  }
  if (action == "move") {
    if (const Status added = add_folder(fields, "folder", params); !added.ok())
      return added.error();
    if (const std::string as = value_of(fields, "as"); !as.empty()) params["as"] = as;
    return action;
  }
  return not_understood("there is no such action");
}

}  // namespace

std::string page_of_form(const web::Fields& fields) {
  return web::find_field(fields, "alone") == nullptr ? "" : value_of(fields, "content");
}

Result<FormCall> form_call(const web::Fields& fields) {
  const std::string content = value_of(fields, "content");
  Json params = Json::object();
  if (!content.empty()) params["content"] = content;
  const auto method = complete(value_of(fields, "action"), fields, params);
  if (!method.ok()) return method.error();
  const std::string page = *method == "remove" ? "" : page_of_form(fields);
  return FormCall{{{"jsonrpc", "2.0"}, {"id", 1}, {"method", *method}, {"params", params}},
                  page.empty() ? "/" : "/content/" + percent_encode(page)};
}

}  // namespace firn::app
