#include "proto/web/frame.h"

#include "proto/web/markup.h"

namespace firn::web {

std::string whole_page(const Frame& frame) {
  std::string page =
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>" +
      html(frame.title) +
      "</title><link rel=\"stylesheet\" href=\"/page.css\">"
      "<link rel=\"icon\" href=\"data:,\"><script src=\"/page.js\" defer></script></head><body";
  if (!frame.events.empty()) page += " data-events=\"" + html(frame.events) + "\"";
  page += "><a class=\"skip\" href=\"#main\">Skip to content</a>" + frame.body;
  if (frame.leave)
    page +=
        "<footer><form method=\"post\" action=\"/logout\"><button class=\"quiet\">Sign out</button>"
        "</form><p id=\"live\" role=\"status\"></p></footer>";
  return page + "</body></html>\n";
}

std::string sign_in_page(const std::string& program, bool wrong) {
  Frame frame;
  frame.title = "Sign in: " + program;
  frame.leave = false;
  frame.body = "<main id=\"main\" class=\"narrow\"><h1>" + html(program) + "</h1>";
  if (wrong) frame.body += "<p role=\"alert\" class=\"bad\">That is not the token.</p>";
  frame.body +=
      "<form method=\"post\" action=\"/login\" id=\"login\"><label for=\"token\">Token</label>"
      "<input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"current-password\" "
      "required><button>Sign in</button></form><p>The program printed an address with the token "
      "when it started; a token file holds it as well.</p></main>";
  return whole_page(frame);
}

}  // namespace firn::web
