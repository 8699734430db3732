// What the forms of the pages ask for, as calls of the daemon's methods (docs/rpc.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "client/app/console/events.h"
#include "proto/base/result.h"
#include "proto/web/http_message.h"

namespace firn::app {

struct FormCall {
  Json rpc;
  std::string back;  // the page that the reader is led to afterwards
};

// The content on whose page a form stands; empty: it stands on the list of contents.
std::string page_of_form(const web::Fields& fields);

// `action` says what is to be done, with the content `content` or, without it, with the daemon:
// pause, resume, remove, remove_data, priority, queue, move, files; limit; watch, unwatch. `alone`:
// the form stands on the content's own page. Errors: kBadInput, in words for the reader.
Result<FormCall> form_call(const web::Fields& fields);

}  // namespace firn::app
