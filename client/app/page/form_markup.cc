#include "client/app/page/form_markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "proto/web/markup.h"

namespace firn::app {
namespace {

constexpr std::array<std::string_view, 5> kOwnAlert = {"add", "limit", "watch", "move", "files"};

std::string alert_of(const Refusal& refused) {
  return "<p role=\"alert\" class=\"bad\" tabindex=\"-1\" autofocus>That was not done: " +
         web::html(refused.why) + "</p>";
}

}  // namespace

FormMarkup::FormMarkup(const std::optional<Refusal>& refused, const char* action)
    : action_(action), refused_(refused && refused->action == action ? &*refused : nullptr) {}

std::string FormMarkup::alert() const {
  return refused_ == nullptr ? "" : alert_of(*refused_);
}

std::string FormMarkup::field(const char* name, const char* label, const std::string& example,
                              bool required) const {
  const std::string* const typed =
      refused_ == nullptr ? nullptr : web::find_field(refused_->fields, name);
  return fmt::format(
      "<label for=\"{5}-{0}\">{1}</label><input id=\"{5}-{0}\" name=\"{0}\" placeholder=\"{2}\" "
      "autocomplete=\"off\"{3}{4}>",
      name, label, example, typed == nullptr ? "" : " value=\"" + web::html_value(*typed) + "\"",
      required ? " required" : "", action_);
}

bool FormMarkup::ticked(const char* name) const {
  return refused_ != nullptr && web::find_field(refused_->fields, name) != nullptr;
}

std::string refusal_alert(const std::optional<Refusal>& refused) {
  if (!refused || std::ranges::find(kOwnAlert, refused->action) != kOwnAlert.end()) return "";
  return alert_of(*refused);
}

}  // namespace firn::app
