// What every page of a program has: head, style, script, and the way to sign in.
#pragma once

#include <string>
#include <string_view>

namespace firn::web {

struct Frame {
  std::string title;   // text
  std::string body;    // HTML
  std::string events;  // path of the page's server-sent events; empty: it is not live
  bool leave = true;   // with a way to sign out
};
std::string whole_page(const Frame& frame);

// A form that asks for the token. `wrong`: one was given that is not it.
std::string sign_in_page(const std::string& program, bool wrong);

// Files of proto/web/assets, as they are.
std::string_view style_sheet();
std::string_view script();

}  // namespace firn::web
