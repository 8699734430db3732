// Text of strangers within HTML: names of files, agents, reasons.
#pragma once

#include <string>
#include <string_view>

namespace firn::web {

// `text` for HTML, between tags and within quoted attributes: shown as it is, whatever it holds.
// What is not plain text, and what shows as nothing or turns the direction of writing around, is
// escaped as escaped() (plain_text.h) does.
std::string html(std::string_view text);

// `text` for the quoted value of a hidden field, which a form sends back as it was.
std::string html_value(std::string_view text);

// `markup` in a box that scrolls where the window is too narrow, also by keyboard. `label`: unique
// in the page; HTML.
std::string scrolled(std::string_view label, std::string_view markup);

}  // namespace firn::web
