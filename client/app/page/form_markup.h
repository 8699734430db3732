// Fields of the pages' forms. A form that was refused comes back open, with the reason and with
// what its user typed.
#pragma once

#include <optional>
#include <string>

#include "proto/web/http_message.h"

namespace firn::app {

// A form that a browser sent and that was not carried out.
struct Refusal {
  std::string action;  // of the form: as form_calls.h names it, or "add"
  std::string why;
  web::Fields fields;
};

class FormMarkup {
 public:
  // `refused` outlives this object. Shows it if it is a form of this action.
  FormMarkup(const std::optional<Refusal>& refused, const char* action);

  // " open" for the details around the form, if it comes back.
  const char* open() const { return refused_ == nullptr ? "" : " open"; }
  // Why it was refused; empty: it was not.
  std::string alert() const;
  // A field with its label; its id is ACTION-NAME. `example`: HTML.
  std::string field(const char* name, const char* label, const std::string& example,
                    bool required = false) const;
  // Whether a box was ticked.
  bool ticked(const char* name) const;

 private:
  const char* const action_;
  const Refusal* refused_;  // null: it was not
};

// The reason of a refusal as a paragraph, for pages whose forms do not show it. Empty: nothing was
// refused.
std::string refusal_alert(const std::optional<Refusal>& refused);

}  // namespace firn::app
