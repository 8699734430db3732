#include "proto/web/markup.h"

#include "proto/base/plain_text.h"

namespace firn::web {

std::string html(std::string_view text) {
  return html_value(escaped(text));
}

std::string html_value(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    switch (c) {
      case '&':
        shown += "&amp;";
        break;
      case '<':
        shown += "&lt;";
        break;
      case '>':
        shown += "&gt;";
        break;
      case '"':
        shown += "&quot;";
        break;
      case '\'':
        shown += "&#39;";
        break;
      default:
        shown += c;
    }
  }
  return shown;
}

std::string scrolled(std::string_view label, std::string_view markup) {
  std::string box = "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"";
  box += label;
  box += "\">";
  box += markup;
  return box + "</div>";
}

}  // namespace firn::web
