#include "client/app/push/order.h"

#include "client/app/console/json_members.h"

namespace firn::app {
namespace {

constexpr int kOrderKind = 1;

bool flag_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace

std::string order_text(const PushOrder& order) {
  // Paths need not be UTF-8; JSON must be.
  return Json{{"order", kOrderKind},
              {"link", order.link},
              {"dir", order.dir},
              {"as", order.as},
              {"overwrite", order.overwrite},
              {"repair", order.repair},
              {"timeout_s", order.timeout_s}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<PushOrder> parse_order(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || number_of(json, "order") != kOrderKind)
    return Error{ErrorCode::kProtocol, "read the order of firn push",
                 "it is none, or of another version of firn"};
  PushOrder order;
  order.link = text_of(json, "link");
  order.dir = text_of(json, "dir");
  order.as = text_of(json, "as");
  order.overwrite = flag_of(json, "overwrite");
  order.repair = flag_of(json, "repair");
  const double timeout_s = number_of(json, "timeout_s");
  if (timeout_s > 0 && timeout_s <= 1e9) order.timeout_s = static_cast<std::uint32_t>(timeout_s);
  return order;
}

}  // namespace firn::app
