// Text of strangers within HTML: names of files, agents, reasons.
#pragma once

#include <string>
#include <string_view>

namespace firn::web {

// `text` for HTML, between tags and within quoted attributes: shown as it is, whatever it holds.
// What is not plain text (plain_text.h), and what turns the direction of writing around, is escaped
// as escaped() does.
std::string html(std::string_view text);

}  // namespace firn::web
